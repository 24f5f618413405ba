//! Files named on the command line: plans as input, answers as output.

mod answer;
mod ending;

pub use answer::{
    Existing, named_file, refuse_existing, refuse_input, stream, stream_error, write,
};
pub use ending::form_of;
pub use host::documents::{
    create, dated_folder, decode, make_folder, make_new_folder, make_parents, open, read_data,
    read_deployment, read_document, read_foreign, read_plan, read_text, replace, write_new,
};
