//! How each kind of header field is stored, and the macro that turns a table of offsets into a
//! structure with its reader and writer.

use units::{Generation, ObjectId, PageNumber};

use crate::bytes::{array_at, put};
use crate::header::{BackupInfo, DatabaseState, EventCount, OsVersion};
use crate::lgpos::Lgpos;
use crate::log_time::LogTime;
use crate::signature::Signature;

/// A field with a fixed place in a header.
pub(super) trait Field: Sized {
    fn get(page: &[u8], offset: usize) -> Self;
    fn put(&self, page: &mut [u8], offset: usize);
}

/// Implements a field that converts to and from an array of bytes.
macro_rules! field {
    ($type:ty, $decode:expr, $encode:expr) => {
        impl Field for $type {
            fn get(page: &[u8], offset: usize) -> Self {
                $decode(array_at(page, offset))
            }
            fn put(&self, page: &mut [u8], offset: usize) {
                put(page, offset, &$encode(self));
            }
        }
    };
}

field!(u32, u32::from_le_bytes, |field: &u32| field.to_le_bytes());
field!(u64, u64::from_le_bytes, |field: &u64| field.to_le_bytes());
field!(Lgpos, Lgpos::decode, |field: &Lgpos| field.encode());
field!(LogTime, LogTime::decode, |field: &LogTime| field.encode());
field!(Signature, Signature::decode, Signature::encode);
field!(
    DatabaseState,
    |bytes| Self::from_number(u32::from_le_bytes(bytes)),
    |field: &DatabaseState| field.number().to_le_bytes()
);
field!(Generation, |bytes| Self(u32::from_le_bytes(bytes)), |field: &Generation| {
    field.0.to_le_bytes()
});
field!(PageNumber, |bytes| Self(u32::from_le_bytes(bytes)), |field: &PageNumber| {
    field.0.to_le_bytes()
});
field!(ObjectId, |bytes| Self(u32::from_le_bytes(bytes)), |field: &ObjectId| field.0.to_le_bytes());

/// Implements a field made of consecutive other fields.
macro_rules! group {
    ($type:ident { $($offset:literal $name:ident),+ }) => {
        impl Field for $type {
            fn get(page: &[u8], at: usize) -> Self {
                Self { $($name: Field::get(page, at + $offset)),+ }
            }
            fn put(&self, page: &mut [u8], at: usize) {
                $(self.$name.put(page, at + $offset);)+
            }
        }
    };
}

group!(BackupInfo { 0 lgpos, 8 time, 16 generation_low, 20 generation_high });
group!(EventCount { 0 count, 4 last, 12 old_count });
group!(OsVersion { 0 major, 4 minor, 8 build, 12 service_pack });

/// A structure whose fields have fixed offsets in a page.
macro_rules! layout {
    ($(#[$doc:meta])* pub struct $name:ident {
        $($(#[$field_doc:meta])* $offset:literal => $field:ident: $type:ty,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)+ }

        impl $name {
            fn get_fields(page: &[u8]) -> Self {
                Self { $($field: Field::get(page, $offset),)+ }
            }
            fn put_fields(&self, page: &mut [u8]) {
                $(self.$field.put(page, $offset);)+
            }
        }
    };
}
pub(super) use layout;
