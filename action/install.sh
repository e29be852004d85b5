#!/usr/bin/env bash
# Installs ciguard from this checkout into an environment of its own:
#   install.sh FOLDER    then FOLDER/bin/python -I -m ciguard
# PLUGINS may hold further requirements, one per line. Everything else is pinned with its hashes.
set -euo pipefail

system=${RUNNER_OS:-$(uname -s)}
if [[ $system != Linux ]]; then
  echo "::error title=ciguard::ciguard confines what it fuzzes with means that only Linux has;" \
    "this runner has $system. Set runs-on to a Linux runner such as ubuntu-24.04."
  exit 2
fi

# The working folder is the pull request's: neither its modules (-I) nor its settings of uv count.
export UV_NO_CONFIG=1

folder=$1
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
plugins=${PLUGINS:-}
stamp=$plugins$'\n'$here

if [[ -f $folder/.complete && $(< "$folder/.complete") == "$stamp" ]]; then
  exit 0 # an earlier step of this job did it
fi

if ! python3 -I -m pip --version > /dev/null; then
  echo "::error title=ciguard::this runner has no python3 with pip." \
    "Install it (apt-get install python3-pip), or run actions/setup-python before ciguard."
  exit 2
fi

rm -rf -- "$folder" "$folder-uv"
# Not in an environment of its own: to put pip into one takes longer than all the rest.
python3 -I -m pip install --quiet --disable-pip-version-check --no-deps --no-user \
  --target "$folder-uv" --require-hashes --requirement "$here/uv.txt"
uv=$folder-uv/bin/uv

"$uv" venv --quiet --no-project --python '>=3.11' "$folder"
"$uv" pip install --quiet --python "$folder/bin/python" --require-hashes \
  --requirement "$here/requirements.txt"
"$uv" pip install --quiet --python "$folder/bin/python" --no-deps --no-build-isolation "$here/.."
if [[ -n $plugins ]]; then
  printf '%s\n' "$plugins" > "$folder/plugins.txt"
  "$uv" pip install --quiet --python "$folder/bin/python" --requirement "$folder/plugins.txt"
fi
printf '%s\n' "$stamp" > "$folder/.complete"
