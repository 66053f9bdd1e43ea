# Sourced by the commands here: makes a virtual environment inside the checkout with the wheel of this very source in
# it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}
# No trace outside the checkout: matplotlib keeps a list of fonts, ir_measures folders for data, notebooks their settings and
# connections, and pip asks rustc, which may be rustup's, for its version.
export MPLCONFIGDIR="$root/build/matplotlib" RUSTUP_HOME="${RUSTUP_HOME:-$root/build/rustup}" IR_DATASETS_HOME="$root/build/ir_datasets"
export IPYTHONDIR="$root/build/ipython" JUPYTER_CONFIG_DIR="$root/build/jupyter" JUPYTER_DATA_DIR="$root/build/jupyter"

constraints="$root/ci/constraints.txt"
export PIP_CACHE_DIR="$root/build/pip-cache" PIP_DISABLE_PIP_VERSION_CHECK=1
# What pip is told about sources of packages, uv is told too.
export UV_CACHE_DIR="$root/build/uv-cache" UV_PYTHON_DOWNLOADS=never
[ -z "${PIP_FIND_LINKS:-}" ] || export UV_FIND_LINKS="${UV_FIND_LINKS:-${PIP_FIND_LINKS// /,}}"
[ -z "${PIP_INDEX_URL:-}" ] || export UV_INDEX_URL="${UV_INDEX_URL:-$PIP_INDEX_URL}"
[ -z "${PIP_EXTRA_INDEX_URL:-}" ] || export UV_EXTRA_INDEX_URL="${UV_EXTRA_INDEX_URL:-$PIP_EXTRA_INDEX_URL}"

# build_tools: what builds the wheel, in the versions that $constraints pins, and uv, which installs packages several times
# faster than pip; where there is no uv, pip does. Leaves the environment's folder in $tools.
build_tools() {
    local stamp
    stamp="$(cksum < "$constraints") $("$python" -VV)"
    tools="$root/build/tools-$(basename "$constraints" .txt)-$("$python" -c 'import sys; print(sys.implementation.cache_tag + sys.abiflags)')"
    [ "$(cat "$tools/stamp" 2>/dev/null)" != "$stamp" ] || return 0
    echo "== installing what builds hitcurve into $tools" >&2
    rm -rf "$tools"
    "$python" -m venv "$tools"
    "$tools/bin/python" -m pip --quiet install -c "$constraints" "setuptools>=80" "Cython>=3.3" "numpy>=2"
    "$tools/bin/python" -m pip --quiet install --only-binary :all: -c "$root/ci/constraints.txt" uv || echo "== no uv: pip installs the packages" >&2
    echo "$stamp" > "$tools/stamp"
}

# install ARGUMENT...: packages for the environment in $env. pip does it where uv cannot, as with a mirror that only pip knows.
install() {
    if [ -z "${HITCURVE_PIP:-}" ] && [ -x "$tools/bin/uv" ] &&
        "$tools/bin/uv" pip install --quiet --python "$env/bin/python" --compile-bytecode "$@"; then
        return
    fi
    "$tools/bin/python" -m pip --python "$env/bin/python" --quiet install "$@"
}

# wheel_of_sources: the wheel of this very source, made once for each state of it, each Python and each set of flags. What is
# compiled for it is kept. Leaves its path in $wheel.
wheel_of_sources() {
    local sources=(pyproject.toml setup.py README.md LICENSE LICENSE-numpy src) state folder scratch
    build_tools
    state=$( (cd "$root" && find "${sources[@]}" -type f ! -name '*.py[co]' ! -name '*.so' ! -path '*.egg-info*' -print0 | LC_ALL=C sort -z |
        xargs -0 cksum && "$tools/bin/python" -c 'import runpy; print(runpy.run_path("setup.py", run_name="setup")["tree"]())') | cksum | tr ' ' -)
    folder="$root/build/wheels/$state"
    if [ ! -d "$folder" ]; then
        echo "== making the wheel of hitcurve; the first time about a minute" >&2
        mkdir -p "$root/build/wheels"
        find "$root/build/wheels" -maxdepth 1 -name 'making.*' -mmin +60 -exec rm -rf {} + # of commands that were interrupted
        scratch=$(mktemp -d "$root/build/wheels/making.XXXXXX")
        (cd "$root" && "$tools/bin/python" -c 'import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])' "$scratch" \
            > "$root/build/wheels/log") || { tail -n 30 "$root/build/wheels/log" >&2; exit 1; }
        if [ -d "$folder" ]; then rm -rf "$scratch"; else mv "$scratch" "$folder"; fi # another command may have been first
        # shellcheck disable=SC2012 # the names are numbers
        (cd "$root/build/wheels" && ls -dt [0-9]* | tail -n +13 | xargs rm -rf)
    fi
    wheel=$(echo "$folder"/hitcurve-*.whl)
}

# more_packages PACKAGE...: further packages for the environment, in the versions that $constraints pins.
more_packages() {
    install -c "$constraints" "$@"
    if [ "$constraints" = "$root/ci/constraints.txt" ]; then
        "$env/bin/python" "$root/ci/pinned.py" "$constraints"
    fi
}

# environment NAME EXTRAS [PACKAGE...]: leaves the environment's folder in $env. A second run reuses what is there.
environment() {
    env="$root/build/env-$1"
    local extras=$2 packages wheel
    shift 2
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "hitcurve needs Python 3.11 or newer; PYTHON=... names one" >&2
        exit 1
    fi
    wheel_of_sources
    # What an extra holds stands in pyproject.toml.
    packages="$extras $* $(cksum < "$constraints") $(sed -n '/^dependencies/,/^\[project.scripts/p' "$root/pyproject.toml" | cksum) $("$python" -VV)"
    if [ "$(cat "$env/stamp" 2>/dev/null)" = "$packages $wheel" ]; then
        return
    fi
    rm -f "$env/stamp"
    if [ "$(cat "$env/packages" 2>/dev/null)" = "$packages" ]; then
        install --no-deps --force-reinstall "$wheel"
    else
        echo "== installing hitcurve$extras into $env" >&2
        rm -rf "$env"
        "$python" -m venv --without-pip "$env"
        more_packages "$wheel$extras" "$@"
        mkdir -p "$env/work"
        echo "$packages" > "$env/packages"
    fi
    echo "$packages $wheel" > "$env/stamp"
}
