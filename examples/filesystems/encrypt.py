"""Makes a folder of ext4 encrypt all files created in it, with a random key that only the kernel
holds: like `fscrypt`, but for a volume that is discarded (see the kernel's fscrypt.rst)."""

import fcntl
import os
import struct
import sys

# _IOWR('f', 23, struct fscrypt_add_key_arg) and _IOR('f', 19, struct fscrypt_policy_v1).
ADD_ENCRYPTION_KEY = 0xC0506617
SET_ENCRYPTION_POLICY = 0x800C6613
KEY_BYTES = 64
KEY_IS_AN_IDENTIFIER = 2
POLICY_V2 = 2
AES_256_XTS, AES_256_CTS = 1, 4
PADDING_32 = 3


def add_key(folder):
    """Adds a random key to the file system; returns its identifier, which the kernel computes."""
    specifier = struct.pack("=II32s", KEY_IS_AN_IDENTIFIER, 0, b"")
    head = specifier + struct.pack("=II32s", KEY_BYTES, 0, b"")
    argument = bytearray(head + os.urandom(KEY_BYTES))
    fcntl.ioctl(folder, ADD_ENCRYPTION_KEY, argument, True)
    return bytes(argument[8:24])


def encrypt(path):
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    identifier = add_key(folder)
    policy = struct.pack(
        "=BBBBB3s16s", POLICY_V2, AES_256_XTS, AES_256_CTS, PADDING_32, 0, b"", identifier
    )
    fcntl.ioctl(folder, SET_ENCRYPTION_POLICY, policy)


try:
    encrypt(sys.argv[1])
except OSError as error:
    sys.exit(f"the kernel does not encrypt folders of ext4: {error.strerror}")
