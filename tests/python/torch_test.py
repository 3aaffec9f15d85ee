"""A torch model with a memory."""
import copy
import unittest

import numpy as np
import resmem
import torch
from torch import nn


class TorchModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        cls.x = torch.randn(600, 6)
        cls.y = (cls.x[:, 0] * cls.x[:, 1] > 0).long()
        cls.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 2))
        cls.loader = [(cls.x[i:i + 100], cls.y[i:i + 100]) for i in range(0, 400, 100)]
        cls.held_out = [(cls.x[400:], cls.y[400:])]

    def test_the_key_is_what_the_layer_gives_or_gets(self):
        by_output = resmem.from_torch(self.net, "1", self.loader)
        by_input = resmem.from_torch(self.net, self.net[3], self.loader, inputs=True)  # dropout is off
        with torch.no_grad():
            expected = torch.relu(self.net[0](self.x[:400])).numpy()
        np.testing.assert_allclose(by_output.memory.rows().keys, expected, atol=1e-6)
        np.testing.assert_array_equal(by_output.memory.rows().keys, by_input.memory.rows().keys)
        with self.assertRaises(ValueError) as caught:
            resmem.from_torch(self.net, "none", self.loader)
        self.assertIn("3", str(caught.exception))

    def test_it_is_a_module_that_gives_log_probabilities(self):
        model = resmem.from_torch(self.net, "3", self.loader, inputs=True, validation=self.held_out)
        self.assertIsInstance(model, nn.Module)
        answer = model(self.x[400:])
        self.assertEqual((answer.shape, answer.dtype), ((200, 2), torch.float32))
        np.testing.assert_allclose(answer.exp().sum(1).numpy(), 1, atol=1e-5)
        evaluation = model.evaluate(self.held_out)
        self.assertAlmostEqual(evaluation.accuracy, float((answer.argmax(1) == self.y[400:]).float().mean()))
        self.assertGreater(evaluation.gain, 0)
        self.assertEqual(model.memory.answer, "blend")
        self.assertEqual([e.unknown for e in model.explain(self.x[400:410], 0.3)],
                         model.unknown(self.x[400:410], 0.3).tolist())
        self.assertTrue(self.net.training)  # as it was
        again = copy.deepcopy(model)
        self.assertTrue(torch.equal(again(self.x[400:]), answer))

    def test_tensors_are_not_copied(self):
        keys = torch.randn(100, 8)
        self.assertTrue(np.shares_memory(resmem._arrays.matrix(keys, "keys"), keys.numpy()))
        self.assertTrue(np.shares_memory(resmem._arrays.matrix(keys.requires_grad_(), "keys"), keys.detach().numpy()))

    def test_learning_and_forgetting_a_batch(self):
        model = resmem.from_torch(self.net, "3", self.loader, inputs=True, k=1)
        before = model(self.x[400:])
        ids = model.learn(self.x[400:], self.y[400:])
        self.assertTrue(torch.equal(model(self.x[400:]).argmax(1), self.y[400:]))
        model.forget(ids)
        self.assertTrue(torch.equal(model(self.x[400:]), before))
        self.assertEqual(len(model.explain(self.x[:2])), 2)

    def test_regression(self):
        net = nn.Linear(6, 1)
        target = self.x[:, :1] ** 2
        model = resmem.from_torch(net, net, [(self.x, target)], inputs=True, regression=True, k=1)
        np.testing.assert_allclose(model(self.x).numpy(), target.numpy(), atol=1e-4)


if __name__ == "__main__":
    unittest.main()
