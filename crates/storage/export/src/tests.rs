//! Conversations with clients, byte by byte.

mod nbd;
