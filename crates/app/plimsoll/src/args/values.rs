//! Values that a shell completes although others are accepted too: names beside paths, and words
//! that a plan judges with its own message.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use host::simulate::arrays;
use plan::TestKind;

/// Takes any text, and has a shell offer some.
#[derive(Clone, Copy)]
pub(crate) struct Offered(pub fn() -> Vec<&'static str>);

/// Kinds of tests that are simulated.
pub(crate) const TESTS: Offered = Offered(|| TestKind::NAMES.to_vec());

/// Arrays that come with the program, beside files.
pub(crate) const ARRAYS: Offered = Offered(arrays::names);

impl TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
