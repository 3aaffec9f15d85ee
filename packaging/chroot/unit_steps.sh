#!/usr/bin/env bash
# Inside a system that systemd has booted: takes resmem-serve.service through its life as packaging/test set it up,
# and prints a line STEP for what went well.
export RESMEM_KEY=2123456789abcdef0123456789abcdef
# ask PATH [BODY]: until it is answered, for half a minute
ask() {
  python3 - "$@" <<'PYTHON'
import os
import sys
import time
import urllib.request

request = urllib.request.Request("http://127.0.0.1:18080" + sys.argv[1], sys.argv[2].encode() if sys.argv[2:] else None,
                                 {"Authorization": "Bearer " + os.environ["RESMEM_KEY"]})
for _ in range(300):
    try:
        print(urllib.request.urlopen(request, timeout=30).read().decode())
        break
    except OSError:
        time.sleep(0.1)
PYTHON
}
systemctl start resmem-serve && ask /v2/health/ready | grep -q true && echo STEP started
python3 /packages/ask_service.py 18080 fashion /var/lib/resmem/fashion.resmem /var/lib/resmem/test \
  --model /root/out/my.base --layer hidden && echo STEP answered as resmem predict
process=$(systemctl show -p MainPID --value resmem-serve)
grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' "/proc/$process/status" | tr -s '\t\n' ' '; echo
[ "$(stat -c %U "/proc/$process")" = resmem ] && grep -qx 'Seccomp:.2' "/proc/$process/status" && echo STEP confined
row=$(python3 -c '
import json, numpy
print(json.dumps({name: numpy.load(f"/var/lib/resmem/test/{name}.npy")[0].tolist() for name in ("keys", "logits")} | {"label": 1}))')
ask /v1/memories/fashion/learn "$row" | grep -q '"edit":1' && echo STEP learned
systemctl reload resmem-serve && sleep 2 && journalctl -u resmem-serve | grep -q '"event":"reloaded"' && echo STEP reloaded
kill -9 "$process" && sleep 2 && ask /v1/memories/fashion/history | grep -q '"edit":1' && echo STEP came back with the edit
systemctl stop resmem-serve && systemctl show -p Result resmem-serve | grep -q success && echo STEP stopped
systemd-analyze security resmem-serve | tail -n 1
journalctl --no-pager -u resmem-serve | tail -n 30
