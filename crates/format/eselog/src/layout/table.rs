//! The types of records, their fields and their lengths.

use Field as F;
use FieldKind::{I16, I32, I64, Place, Signature, Time, U8, U16, U32, U64};
use Part as P;

use super::types;
use super::{Field, FieldAt, FieldKind, Length, Part, PartOf, RecordLayout};

const fn f(field: Field, at: usize, kind: FieldKind) -> FieldAt {
    FieldAt { field, at, kind }
}

const fn short(part: Part, at: usize) -> PartOf {
    PartOf { part, length: Length::U16(at, u16::MAX) }
}

const fn long(part: Part, at: usize) -> PartOf {
    PartOf { part, length: Length::U32(at) }
}

const PAGE: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::Page, 4, U32),
    f(F::Dbtime, 8, U64),
    f(F::DbtimeBefore, 16, U64),
    f(F::Begun, 24, U32),
    f(F::Level, 28, U8),
    f(F::Line, 29, U16),
    f(F::Flags, 31, U8),
];
const NODE: &[FieldAt] = &[f(F::Version, 32, U32), f(F::Root, 36, U32), f(F::Object, 40, U32)];
const SESSION: &[FieldAt] = &[f(F::Session, 1, U16)];
const MACRO: &[FieldAt] = &[f(F::Session, 1, U16), f(F::Dbtime, 3, U64)];
const BEGIN: &[FieldAt] = &[f(F::Session, 1, U16), f(F::Levels, 3, U8)];
const TO_LEVEL: &[FieldAt] = &[f(F::Session, 1, U16), f(F::ToLevel, 3, U8)];
const BEGUN4: &[FieldAt] = &[f(F::Begun, 4, U32)];
const QUIT: &[FieldAt] =
    &[f(F::UndoBegan, 1, Place), f(F::RedoBegan, 9, Place), f(F::IsHard, 17, U8)];
const QUIT_TIME: &[FieldAt] = &[f(F::Time, 18, Time)];
const TRACE: &[FieldAt] = &[f(F::Session, 1, U16), f(F::BodyBytes, 3, U16)];
const CREATE_LARGE: &[FieldAt] = &[
    f(F::Object, 32, U32),
    f(F::OwnedRoot, 36, U32),
    f(F::AvailableRoot, 40, U32),
    f(F::ParentRoot, 44, U32),
    f(F::FirstExtentPages, 48, U32),
    f(F::NewPageFlags, 52, U32),
];
const CREATE_SMALL: &[FieldAt] = &[
    f(F::Object, 32, U32),
    f(F::ParentRoot, 36, U32),
    f(F::FirstExtentPages, 40, U32),
    f(F::NewPageFlags, 44, U32),
];
const CONVERT: &[FieldAt] = &[
    f(F::Object, 32, U32),
    f(F::OwnedRoot, 36, U32),
    f(F::AvailableRoot, 40, U32),
    f(F::ParentRoot, 44, U32),
    f(F::SecondExtentFirst, 48, U32),
    f(F::FirstExtentPages, 52, U32),
    f(F::SecondExtentPages, 56, U32),
];
const CONVERT_MORE: &[FieldAt] = &[f(F::AvailableBits, 60, U32), f(F::NewPageFlags, 64, U32)];
const SPLIT: &[FieldAt] = &[
    f(F::NewPage, 32, U32),
    f(F::RightPage, 36, U32),
    f(F::RightBefore, 40, U64),
    f(F::ParentPage, 48, U32),
    f(F::ParentBefore, 52, U64),
    f(F::Root, 60, U32),
    f(F::Object, 64, U32),
    f(F::SplitKind, 68, U8),
    f(F::SplitOperation, 69, U8),
    f(F::OperationLine, 70, U16),
    f(F::SplitLine, 72, U16),
    f(F::Lines, 74, U16),
    f(F::NewPageFlags, 76, U32),
    f(F::SplitPageFlags, 80, U32),
    f(F::SourceUncommitted, 84, I16),
    f(F::TargetUncommitted, 86, I16),
    f(F::SplitPrefixLine, 88, I32),
    f(F::NewPrefixLine, 92, I32),
    f(F::OldPrefixBytes, 96, U16),
    f(F::NewPrefixBytes, 98, U16),
    f(F::ParentKeyBytes, 100, U16),
];
const SPLIT_IMAGE: &[FieldAt] = &[f(F::ImageFlags, 102, U32), f(F::ImageBytes, 106, U32)];
const MERGE: &[FieldAt] = &[
    f(F::RightPage, 32, U32),
    f(F::RightBefore, 36, U64),
    f(F::LeftPage, 44, U32),
    f(F::LeftBefore, 48, U64),
    f(F::ParentPage, 56, U32),
    f(F::ParentBefore, 60, U64),
    f(F::Root, 68, U32),
    f(F::Object, 72, U32),
    f(F::TotalBytes, 76, U16),
    f(F::LargestTotalBytes, 78, U16),
    f(F::TargetUncommitted, 80, U16),
    f(F::MergeLine, 82, U16),
    f(F::MergeFlags, 84, U8),
    f(F::MergeKind, 85, U8),
    f(F::ParentKeyBytes, 86, U16),
];
const MERGE_IMAGE: &[FieldAt] = &[f(F::ImageFlags, 88, U32), f(F::ImageBytes, 92, U32)];
const INSERT: &[FieldAt] =
    &[f(F::KeyBytes, 44, U16), f(F::PrefixBytes, 46, U16), f(F::DataBytes, 48, U16)];
const KEY_DATA: &[FieldAt] = &[f(F::KeyBytes, 44, U16), f(F::DataBytes, 46, U16)];
const REPLACE_VERSION: &[FieldAt] = &[f(F::ReplaceVersion, 48, U32)];
const REPLACE: &[FieldAt] =
    &[f(F::DataBytes, 44, U16), f(F::OldDataBytes, 46, U16), f(F::NewDataBytes, 48, U16)];
const BOOKMARK: &[FieldAt] = &[f(F::KeyBytes, 44, U16), f(F::BookmarkBytes, 46, U16)];
const UNDO_INFO: &[FieldAt] = &[
    f(F::Operation, 48, U16),
    f(F::LargestBytes, 50, I16),
    f(F::DeltaBytes, 52, I16),
    f(F::DataBytes, 54, U16),
];
const DELTA: &[FieldAt] = &[f(F::Delta, 48, I32), f(F::Offset, 52, U16)];
const DELTA64: &[FieldAt] = &[f(F::Delta, 48, I64), f(F::Offset, 56, U16)];
const UNDO: &[FieldAt] = &[f(F::Operation, 48, U16), f(F::ToLevel, 50, U8)];
const MOVE: &[FieldAt] = &[
    f(F::NewPage, 32, U32),
    f(F::LeftPage, 36, U32),
    f(F::RightPage, 40, U32),
    f(F::ParentPage, 44, U32),
    f(F::LeftBefore, 48, U64),
    f(F::RightBefore, 56, U64),
    f(F::ParentBefore, 64, U64),
    f(F::Root, 72, U32),
    f(F::Object, 76, U32),
    f(F::ParentLine, 80, I32),
    f(F::MoveFlags, 84, U32),
    f(F::HeadBytes, 88, U32),
    f(F::TailBytes, 92, U32),
];
const CREATE: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::CreateFlags, 4, U32),
    f(F::MostPages, 8, U32),
    f(F::Signature, 12, Signature),
    f(F::PathBytes, 40, U16),
    f(F::PathFlags, 42, U8),
];
const ATTACH: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::MostPages, 4, U32),
    f(F::Consistent, 8, Place),
    f(F::Signature, 16, Signature),
    f(F::LogSignature, 44, Signature),
    f(F::PathBytes, 72, U16),
    f(F::PathFlags, 74, U8),
];
const DETACH: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::PathBytes, 4, U16),
    f(F::PathFlags, 6, U8),
];
const SHRINK: &[FieldAt] = &[f(F::Database, 1, U8), f(F::LastPage, 2, U32), f(F::Pages, 6, U32)];
const FREED: &[FieldAt] =
    &[f(F::Database, 1, U8), f(F::FirstPage, 2, U32), f(F::Pages, 6, U32), f(F::Flags, 10, U8)];
const BODY: &[FieldAt] = &[f(F::BodyBytes, 1, U32)];
const BACKUP: &[FieldAt] = &[
    f(F::BackupPhase, 1, U8),
    f(F::BackupKind, 2, U32),
    f(F::BackupScope, 6, U8),
    f(F::Database, 7, U8),
    f(F::Attached, 8, Place),
    f(F::Time, 16, Time),
    f(F::FirstGeneration, 24, U32),
    f(F::LastGeneration, 28, U32),
    f(F::PathBytes, 33, U16),
];

/// Returns the trailing part of an ignorable record, after its first `fixed` bytes.
const fn rest(fixed: usize) -> PartOf {
    PartOf { part: P::Rest, length: Length::Behind { at: 1, fixed: fixed - 5 } }
}

const MULTI_SECTOR_FLUSH_FIELDS: &[FieldAt] =
    &[f(F::ForwardByte, 1, U16), f(F::Checksum, 3, U32), f(F::ForwardSegment, 7, U16)];
const REFRESH_FIELDS: &[FieldAt] = &[f(F::Begun, 3, U32)];
const FULL_BACKUP_FIELDS: &[FieldAt] = &[f(F::PathBytes, 1, U16)];
const JET_OPERATION_FIELDS: &[FieldAt] = &[f(F::Call, 3, U8)];
const SET_EXTERNAL_HEADER_FIELDS: &[FieldAt] = &[f(F::DataBytes, 44, U16)];
const EXTERNAL_RESTORE_FIELDS: &[FieldAt] = &[f(F::BodyBytes, 1, U16)];
const BACKUP_OLD_FIELDS: &[FieldAt] = &[f(F::BackupKind, 1, U8)];
const EMPTY_TREE_FIELDS: &[FieldAt] = &[f(F::ListBytes, 44, U16)];
const INIT2_FIELDS: &[FieldAt] = &[f(F::Time, 568, Time)];
const RECOVERY_UNDO2_FIELDS: &[FieldAt] = &[f(F::Time, 1, Time)];
const PREPARE_COMMIT_FIELDS: &[FieldAt] = &[f(F::BodyBytes, 3, U32)];
const SCRUB_FIELDS: &[FieldAt] =
    &[f(F::ScrubFlags, 44, U32), f(F::Scrubbed, 48, U32), f(F::BodyBytes, 52, U16)];
const PAGE_PATCH_REQUEST_FIELDS: &[FieldAt] =
    &[f(F::Database, 1, U8), f(F::Page, 2, U32), f(F::Dbtime, 6, U64)];
const EXTEND_DATABASE_FIELDS: &[FieldAt] = &[f(F::Database, 5, U8), f(F::LastPage, 6, U32)];
const COMMIT_CONTEXT_FIELDS: &[FieldAt] = &[f(F::Session, 5, U16)];
const SCAN_CHECK_FIELDS: &[FieldAt] = &[
    f(F::Database, 5, U8),
    f(F::Page, 6, U32),
    f(F::DbtimeBefore, 26, U64),
    f(F::DatabaseTime, 34, U64),
    f(F::PageChecksum, 42, U16),
];
const RE_ATTACH_FIELDS: &[FieldAt] = &[
    f(F::Database, 5, U8),
    f(F::Attached, 6, Place),
    f(F::Consistent, 14, Place),
    f(F::Signature, 22, Signature),
];
const MACRO_INFO2_FIELDS: &[FieldAt] = &[f(F::Database, 5, U8), f(F::Pages, 6, U32)];
const FREE_TREE_FIELDS: &[FieldAt] =
    &[f(F::Database, 5, U8), f(F::Root, 6, U32), f(F::Begun, 10, U32), f(F::TreeKind, 14, U8)];
const CREATE_DATABASE_FINISH_FIELDS: &[FieldAt] = &[f(F::Database, 3, U8)];
const TRIM_DATABASE_FIELDS: &[FieldAt] =
    &[f(F::Database, 1, U8), f(F::FirstPage, 2, U32), f(F::Pages, 6, U32)];
const SET_DATABASE_VERSION_FIELDS: &[FieldAt] = &[
    f(F::Database, 1, U8),
    f(F::FormatVersion, 2, U32),
    f(F::FormatUpdate, 6, U32),
    f(F::FormatUpdateMinor, 10, U32),
];
const NEW_PAGE_FIELDS: &[FieldAt] = &[
    f(F::Session, 1, U16),
    f(F::Database, 3, U8),
    f(F::Page, 4, U32),
    f(F::Object, 8, U32),
    f(F::Dbtime, 12, U64),
];
const ROOT_PAGE_MOVE_FIELDS: &[FieldAt] =
    &[f(F::Dbtime, 1, U64), f(F::Database, 9, U8), f(F::Object, 10, U32), f(F::Session, 14, U16)];
const SIGNAL_ATTACH_DATABASE_FIELDS: &[FieldAt] = &[f(F::Database, 1, U8)];
const SCAN_CHECK2_FIELDS: &[FieldAt] = &[
    f(F::Database, 1, U8),
    f(F::Page, 2, U32),
    f(F::ScanFlags, 6, U8),
    f(F::DbtimeBefore, 7, U64),
    f(F::DatabaseTime, 15, U64),
    f(F::PageChecksum, 23, U32),
];
const SHRINK_DATABASE3_FIELDS: &[FieldAt] = &[f(F::Dbtime, 10, U64)];
const EXTENT_FREED2_FIELDS: &[FieldAt] = &[f(F::Dbtime, 11, U64)];
const CREATED_VERSION: PartOf = PartOf { part: P::FormatVersion, length: Length::If(42, 4, 4) };
/// The upper bit of the length gives the form of a difference.
const DATA31: PartOf = PartOf { part: P::Data, length: Length::U16(44, 0x7FFF) };
const DIFFERENCE31: PartOf = PartOf { part: P::Difference, length: Length::U16(44, 0x7FFF) };
const PAGE_LIST: PartOf = PartOf { part: P::PageList, length: Length::Behind { at: 1, fixed: 5 } };

/// Makes the table: type, name, bytes of the fixed fields, `longer` if the record states its own
/// length, groups of fields, parts.
macro_rules! records {
    ($($kind:literal $name:literal $fixed:literal $($longer:ident)?
        [$($group:ident)*] $(=> $($part:expr),+)?;)*) => {
        /// Ordered by type.
        pub(super) const TABLE: &[RecordLayout] = &[$(RecordLayout {
            kind: $kind,
            name: $name,
            fixed: $fixed,
            groups: &[$($group),*],
            parts: &[$($($part),+)?],
            shortest: shortest($fixed, &[$(stringify!($longer))?]),
        }),*];
    };
}

/// The bytes that every form of a record has.
const fn shortest(fixed: usize, longer: &[&str]) -> usize {
    if longer.is_empty() { fixed } else { types::IGNORABLE_BYTES }
}

records! {
    0 "NOP" 1 [];
    1 "Init" 568 [];
    2 "Term" 18 [QUIT];
    3 "MultiSectorFlush" 9 [MULTI_SECTOR_FLUSH_FIELDS];
    4 "End" 1 [];
    5 "Begin" 4 [BEGIN];
    6 "Commit" 4 [TO_LEVEL];
    7 "Rollback" 4 [TO_LEVEL];
    8 "Begin0" 8 [BEGIN BEGUN4];
    9 "Commit0" 8 [TO_LEVEL BEGUN4];
    10 "Refresh" 7 [SESSION REFRESH_FIELDS];
    11 "MacroBegin" 11 [MACRO];
    12 "MacroCommit" 11 [MACRO];
    13 "MacroAbort" 11 [MACRO];
    14 "CreateDatabase" 43 [CREATE] => CREATED_VERSION, short(P::Path, 40);
    15 "AttachDatabase" 75 [ATTACH] => short(P::Path, 72);
    16 "DetachDatabase" 7 [DETACH] => short(P::Path, 4);
    17 "RecoveryUndo" 1 [];
    18 "RecoveryQuit" 18 [QUIT];
    19 "FullBackup" 3 [FULL_BACKUP_FIELDS] => short(P::Path, 1);
    20 "IncrementalBackup" 3 [FULL_BACKUP_FIELDS] => short(P::Path, 1);
    21 "JetOperation" 4 [SESSION JET_OPERATION_FIELDS];
    22 "Trace" 5 [TRACE] => short(P::Text, 3);
    23 "ShutDownMark" 1 [];
    24 "CreateMultipleExtentTree" 56 [PAGE CREATE_LARGE];
    25 "CreateSingleExtentTree" 48 [PAGE CREATE_SMALL];
    26 "ConvertTreeOld" 60 [PAGE CONVERT];
    27 "SplitOld" 102 [PAGE SPLIT]
        => short(P::ParentKey, 100), short(P::OldPrefix, 96), short(P::NewPrefix, 98);
    28 "MergeOld" 88 [PAGE MERGE] => short(P::ParentKey, 86);
    29 "Insert" 50 [PAGE NODE INSERT]
        => short(P::KeyPrefix, 46), short(P::Key, 44), short(P::Data, 48);
    30 "FlagInsert" 48 [PAGE NODE KEY_DATA] => short(P::Key, 44), short(P::Data, 46);
    31 "FlagInsertAndReplaceData" 52 [PAGE NODE KEY_DATA REPLACE_VERSION]
        => short(P::Key, 44), short(P::Data, 46);
    32 "FlagDelete" 44 [PAGE NODE];
    33 "Replace" 50 [PAGE NODE REPLACE] => DATA31;
    34 "ReplaceDifference" 50 [PAGE NODE REPLACE] => DIFFERENCE31;
    35 "Delete" 44 [PAGE NODE];
    36 "UndoInformation" 56 [PAGE NODE BOOKMARK UNDO_INFO]
        => short(P::Key, 44), short(P::BookmarkData, 46), short(P::Before, 54);
    37 "Delta" 54 [PAGE NODE BOOKMARK DELTA] => short(P::Key, 44), short(P::BookmarkData, 46);
    38 "SetExternalHeader" 46 [PAGE NODE SET_EXTERNAL_HEADER_FIELDS] => short(P::Data, 44);
    39 "Undo" 51 [PAGE NODE BOOKMARK UNDO] => short(P::Key, 44), short(P::BookmarkData, 46);
    45 "ExternalRestore" 3 [EXTERNAL_RESTORE_FIELDS] => short(P::Text, 1);
    46 "BackupOld" 5 [BACKUP_OLD_FIELDS] => short(P::Path, 3);
    48 "EmptyTree" 46 [PAGE NODE EMPTY_TREE_FIELDS] => short(P::EmptyPages, 44);
    49 "Init2" 576 [INIT2_FIELDS];
    50 "Term2" 26 [QUIT QUIT_TIME];
    51 "RecoveryUndo2" 9 [RECOVERY_UNDO2_FIELDS];
    52 "RecoveryQuit2" 26 [QUIT QUIT_TIME];
    53 "BeginDistributed" 8 [BEGIN BEGUN4];
    54 "PrepareCommit" 7 [SESSION PREPARE_COMMIT_FIELDS] => long(P::Rest, 3);
    55 "PrepareRollback" 3 [SESSION];
    57 "ForceWriteLog" 3 [SESSION];
    58 "ConvertTree" 68 [PAGE CONVERT CONVERT_MORE];
    59 "ExternalRestore2" 3 [EXTERNAL_RESTORE_FIELDS] => short(P::Path, 1);
    60 "Backup2" 35 [BACKUP] => short(P::Path, 33);
    61 "ForceLogRollover" 5 [TRACE] => short(P::Text, 3);
    62 "Split" 110 [PAGE SPLIT SPLIT_IMAGE]
        => short(P::ParentKey, 100), short(P::OldPrefix, 96), short(P::NewPrefix, 98),
           long(P::Image, 106);
    63 "Merge" 96 [PAGE MERGE MERGE_IMAGE] => short(P::ParentKey, 86), long(P::Image, 92);
    64 "Scrub" 54 [PAGE NODE SCRUB_FIELDS] => short(P::Rest, 52);
    65 "PageMove" 96 [PAGE MOVE] => long(P::Head, 88), long(P::Tail, 92);
    66 "PagePatchRequest" 46 [PAGE_PATCH_REQUEST_FIELDS];
    67 "MacroInfo" 5 longer [BODY] => rest(5);
    68 "ExtendDatabase" 10 longer [BODY EXTEND_DATABASE_FIELDS] => rest(10);
    69 "CommitContext" 7 longer [BODY COMMIT_CONTEXT_FIELDS] => rest(7);
    70 "ScanCheck" 44 longer [BODY SCAN_CHECK_FIELDS] => rest(44);
    71 "NOP2" 5 longer [BODY] => rest(5);
    72 "ReAttach" 50 longer [BODY RE_ATTACH_FIELDS] => rest(50);
    73 "MacroInfo2" 10 longer [BODY MACRO_INFO2_FIELDS] => PAGE_LIST;
    74 "FreeTree" 15 longer [BODY FREE_TREE_FIELDS] => rest(15);
    75 "Ignorable9" 5 longer [BODY] => rest(5);
    78 "ShrinkDatabase" 10 [SHRINK];
    79 "CreateDatabaseFinish" 4 [SESSION CREATE_DATABASE_FINISH_FIELDS];
    80 "RecoveryQuitKeepAttachments" 26 [QUIT QUIT_TIME];
    81 "TrimDatabase" 10 [TRIM_DATABASE_FIELDS];
    82 "Ignorable10" 5 longer [BODY] => rest(5);
    83 "Ignorable11" 5 longer [BODY] => rest(5);
    84 "Ignorable12" 5 longer [BODY] => rest(5);
    85 "Ignorable13" 5 longer [BODY] => rest(5);
    86 "Ignorable14" 5 longer [BODY] => rest(5);
    87 "Ignorable15" 5 longer [BODY] => rest(5);
    88 "Ignorable16" 5 longer [BODY] => rest(5);
    89 "Ignorable17" 5 longer [BODY] => rest(5);
    90 "Ignorable18" 5 longer [BODY] => rest(5);
    91 "Ignorable19" 5 longer [BODY] => rest(5);
    92 "SetDatabaseVersion" 14 [SET_DATABASE_VERSION_FIELDS];
    93 "Delta64" 58 [PAGE NODE BOOKMARK DELTA64] => short(P::Key, 44), short(P::BookmarkData, 46);
    94 "ShrinkDatabase2" 10 [SHRINK];
    95 "NewPage" 20 [NEW_PAGE_FIELDS];
    96 "RootPageMove" 16 [ROOT_PAGE_MOVE_FIELDS];
    97 "SignalAttachDatabase" 2 [SIGNAL_ATTACH_DATABASE_FIELDS];
    98 "ScanCheck2" 27 [SCAN_CHECK2_FIELDS];
    99 "ShrinkDatabase3" 18 [SHRINK SHRINK_DATABASE3_FIELDS];
    100 "ExtentFreed" 11 [FREED];
    101 "ExtentFreed2" 19 [FREED EXTENT_FREED2_FIELDS];
}
