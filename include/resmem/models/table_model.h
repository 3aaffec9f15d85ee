// A base model of tables, for DatasetSources::model.
#ifndef RESMEM_MODELS_TABLE_MODEL_H_
#define RESMEM_MODELS_TABLE_MODEL_H_

#include <memory>
#include <string>

#include "resmem/data/dataset.h"
#include "resmem/models/onnx_model.h"
#include "resmem/status.h"

namespace resmem {

// kMismatch where the model reads images or tokens.  `name`: its file, for messages.
Result<std::shared_ptr<const RowModel>> MakeTableModel(OnnxModel model, const std::string& name);

}  // namespace resmem

#endif  // RESMEM_MODELS_TABLE_MODEL_H_
