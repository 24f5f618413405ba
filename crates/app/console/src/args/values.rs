//! Values that a shell completes although others are accepted too: names as well as paths, and
//! words that a plan checks with its own message.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use host::simulate::arrays;
use plan::TestKind;

/// Accepts any text, and offers some values for completion.
#[derive(Clone, Copy)]
pub struct Offered(pub fn() -> Vec<&'static str>);

/// Kinds of tests that are simulated.
pub const TESTS: Offered = Offered(|| TestKind::NAMES.to_vec());

/// Built-in arrays; files are accepted too.
pub const ARRAYS: Offered = Offered(arrays::names);

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
