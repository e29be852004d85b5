#!/bin/sh
# Says in one line what keeps ciguard from being set up here, and exits with 2; silent otherwise.
#   preflight.sh PYTHON CACHE
set -u

python=$1
cache=$2
needed_mib=512
[ -d "$cache/environments" ] || needed_mib=6144 # environments of libraries, and their wheels

refuse() {
  echo "make: $1" >&2
  exit 2
}

# Root needs no sudo, and images of containers have none.
sudo="sudo "
[ "$(id -u)" != 0 ] || sudo=

# Prints the first of these that starts, other than the one that was asked for.
another_python() {
  for other in python3.11 python3.12 python3.13 python3.14 python3; do
    if [ "$other" != "$python" ] && command -v "$other" > /dev/null &&
      "$other" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
      echo "$other"
      return
    fi
  done
}

# Says what to do about a Python that does not serve.
refuse_python() {
  other=$(another_python)
  [ -z "$other" ] || refuse "$1 Here is $other: make PYTHON=$other …"
  refuse "$1 On Debian or Ubuntu: ${sudo}apt-get install python3.11 python3.11-venv; or name another Python from 3.11 on: make PYTHON=python3.12 …"
}

case $(uname -s) in
  Linux) ;;
  Darwin) refuse "ciguard needs Linux; on macOS run it in a Linux virtual machine or container." ;;
  *) refuse "ciguard needs Linux; on Windows run it in WSL 2." ;;
esac
for loader in /lib/ld-musl-*; do
  if [ -e "$loader" ] && [ ! -e /lib64/ld-linux-x86-64.so.2 ] && [ ! -e /lib/ld-linux-aarch64.so.1 ]; then
    refuse "deep-learning libraries have no builds for musl; use a distribution with glibc, such as Debian."
  fi
done

for program in git g++; do
  command -v "$program" > /dev/null ||
    refuse "$program is missing. On Debian or Ubuntu: ${sudo}apt-get install git g++"
done
command -v "$python" > /dev/null ||
  refuse_python "$python is missing."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null ||
  refuse_python "$python is no Python from 3.11 on, or does not start."
"$python" -c 'import ensurepip, venv' 2> /dev/null ||
  refuse "$python cannot make virtual environments. On Debian or Ubuntu: ${sudo}apt-get install python3-venv"

probe=.written-by-preflight
(: > "$probe") 2> /dev/null || refuse "the checkout $(pwd) cannot be written to."
rm -f "$probe"

# The nearest folder that exists: the cache is made later.
while [ ! -d "$cache" ]; do cache=$(dirname "$cache"); done
for folder in . "$cache"; do
  free_mib=$(df -Pm "$folder" | { read -r _ && read -r _ _ _ free _ && echo "$free"; })
  [ "$free_mib" -ge "$needed_mib" ] ||
    refuse "$(cd "$folder" && pwd) has $free_mib MiB of free disk, and $needed_mib MiB are needed. Make room, or set CIGUARD_CACHE and UV_CACHE_DIR to folders of another disk."
done
