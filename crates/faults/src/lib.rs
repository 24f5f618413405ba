//! Decorators that make any device fail on purpose.
