# Shared by the examples: messages, and the choice of the program. Source it with `here` set to the
# example's folder.

say() { echo "$(basename "$here"): $*" >&2; }

refuse() {
    say "$1"
    exit "$2"
}

# Prints the path of the program to use; builds it if none is installed.
program() {
    if [ -n "${PLIMSOLL:-}" ]; then
        echo "$PLIMSOLL"
    elif command -v plimsoll; then
        :
    else
        repository=$(cd "$here/../.." && pwd)
        cargo build --release --quiet --manifest-path "$repository/Cargo.toml" >&2
        echo "$repository/target/release/plimsoll"
    fi
}
