//! The names of fields and parts of records.

/// Declares an enum whose variants have a name for display and for programs.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $(
                #[doc = concat!("`", $name, "` in text and JSON.")]
                $(#[$variant_doc])*
                $variant,
            )+
        }

        impl $type {
            /// Returns its name for display and for programs.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

named! {
    /// A field of fixed length.
    Field {
        /// The session.
        Session = "session",
        /// Number of the database within the log stream.
        Database = "database",
        /// The page that the record changes.
        Page = "page",
        /// Database time of the page after the change.
        Dbtime = "dbtime",
        /// Database time of the page before the change.
        DbtimeBefore = "dbtime_before",
        /// The engine's transaction counter when the transaction began.
        Begun = "transaction",
        /// Depth of the transaction.
        Level = "level",
        /// Line of the node on its page.
        Line = "line",
        /// 1 versioned, 2 deleted, 4 unique keys, 8 space, 0x10 index being built, 0x20 task.
        Flags = "flags",
        /// Number of the version, which undo information refers to.
        Version = "version",
        /// Root of the tree.
        Root = "root",
        /// Object identifier of the tree.
        Object = "object",
        KeyBytes = "key_bytes",
        PrefixBytes = "prefix_bytes",
        DataBytes = "data_bytes",
        OldDataBytes = "old_data_bytes",
        NewDataBytes = "new_data_bytes",
        BookmarkBytes = "bookmark_data_bytes",
        /// Number of the version of the replace that comes with an insert.
        ReplaceVersion = "replace_version",
        /// 1 insert, 2 replace, 3 flag as deleted, 4 delta, 9 delta of 64 bits.
        Operation = "operation",
        /// The largest size that the node has had within the transaction.
        LargestBytes = "largest_bytes",
        DeltaBytes = "delta_bytes",
        /// The addend.
        Delta = "delta",
        /// Byte of the data at which the number to change begins.
        Offset = "offset",
        /// The page made by a split or move.
        NewPage = "new_page",
        RightPage = "right_page",
        RightBefore = "right_dbtime_before",
        LeftPage = "left_page",
        LeftBefore = "left_dbtime_before",
        ParentPage = "parent_page",
        ParentBefore = "parent_dbtime_before",
        /// 0 vertical, 1 right, 2 append.
        SplitKind = "split_kind",
        /// 0 none, 1 insert, 2 replace, 3 insert over a deleted node.
        SplitOperation = "split_operation",
        OperationLine = "operation_line",
        /// The first node that goes to the new page.
        SplitLine = "split_line",
        /// Nodes of both pages together.
        Lines = "lines",
        NewPageFlags = "new_page_flags",
        SplitPageFlags = "split_page_flags",
        SourceUncommitted = "source_uncommitted_bytes",
        TargetUncommitted = "target_uncommitted_bytes",
        /// The node whose key becomes the page's prefix; -1 for none.
        SplitPrefixLine = "split_prefix_line",
        NewPrefixLine = "new_prefix_line",
        OldPrefixBytes = "old_prefix_bytes",
        NewPrefixBytes = "new_prefix_bytes",
        ParentKeyBytes = "parent_key_bytes",
        /// Bit 0: without its free space; bit 1: compressed.
        ImageFlags = "image_flags",
        ImageBytes = "image_bytes",
        TotalBytes = "total_bytes",
        LargestTotalBytes = "largest_total_bytes",
        MergeLine = "merge_line",
        /// 1 key of the parent changes, 2 its node is removed, 4 the page becomes empty.
        MergeFlags = "merge_flags",
        /// 1 empty page, 2 full right, 3 partial right, 4 empty tree, 5 full left, 6 partial left.
        MergeKind = "merge_kind",
        ListBytes = "list_bytes",
        ParentLine = "parent_line",
        /// Bit 0 root, 1 owned extents, 2 available extents.
        MoveFlags = "move_flags",
        HeadBytes = "head_bytes",
        TailBytes = "tail_bytes",
        OwnedRoot = "owned_root",
        AvailableRoot = "available_root",
        ParentRoot = "parent_root",
        FirstExtentPages = "first_extent_pages",
        SecondExtentFirst = "second_extent_first",
        SecondExtentPages = "second_extent_pages",
        AvailableBits = "available_bits",
        /// Transaction levels: the first in the low half, their count in the high half.
        Levels = "levels",
        /// The level that is committed to, or the number of levels that are rolled back.
        ToLevel = "to_level",
        CreateFlags = "create_flags",
        MostPages = "most_pages",
        Signature = "signature",
        LogSignature = "log_signature",
        PathBytes = "path_bytes",
        PathFlags = "path_flags",
        Consistent = "consistent",
        Attached = "attached",
        /// Where undo began.
        UndoBegan = "undo_began",
        /// Where redo began.
        RedoBegan = "redo_began",
        IsHard = "hard",
        Time = "time",
        LastPage = "last_page",
        /// Number of pages.
        Pages = "pages",
        FirstPage = "first_page",
        BodyBytes = "body_bytes",
        /// Database time of the database.
        DatabaseTime = "database_dbtime",
        /// Checksum of the page's contents.
        PageChecksum = "page_checksum",
        /// Bits 0-1: 0 scan, 1 shrink; 0x20 being deleted, 0x40 empty, 0x80 no object.
        ScanFlags = "scan_flags",
        /// 1 table, 2 index.
        TreeKind = "tree_kind",
        FormatVersion = "format_version",
        FormatUpdate = "format_update",
        FormatUpdateMinor = "format_update_minor",
        BackupPhase = "backup_phase",
        BackupKind = "backup_kind",
        BackupScope = "backup_scope",
        FirstGeneration = "first_generation",
        LastGeneration = "last_generation",
        Scrubbed = "scrub_operations",
        ScrubFlags = "scrub_flags",
        /// Number of a call of the engine's programming interface.
        Call = "call",
        ForwardByte = "forward_byte",
        ForwardSegment = "forward_segment",
        Checksum = "checksum",
    }
}

named! {
    /// A part of variable length.
    Part {
        /// The beginning of a key that the page's prefix holds.
        KeyPrefix = "key_prefix",
        /// A key, or the rest of one after its prefix.
        Key = "key",
        /// The data of a node.
        Data = "data",
        /// Difference that turns the old data into the new.
        Difference = "difference",
        /// The data of a node before it was changed.
        Before = "before",
        /// The data part of a bookmark, in trees whose keys may repeat.
        BookmarkData = "bookmark_data",
        /// The key that the parent gets.
        ParentKey = "parent_key",
        OldPrefix = "old_prefix",
        NewPrefix = "new_prefix",
        /// A page before the change.
        Image = "image",
        /// The first bytes of a page before the change.
        Head = "head",
        /// Its last bytes.
        Tail = "tail",
        /// Pages that become empty: database time before, page, page flags.
        EmptyPages = "empty_pages",
        Path = "path",
        FormatVersion = "format_version",
        /// Run-time parameters of the instance.
        Parameters = "parameters",
        Text = "text",
        PageList = "page_list",
        /// Data added by a client or a later engine.
        Rest = "rest",
    }
}

impl Field {
    /// Number of fields.
    pub(crate) const COUNT: usize = Self::Checksum as usize + 1;
}
