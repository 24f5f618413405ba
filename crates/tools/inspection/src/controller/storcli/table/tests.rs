use super::TextTable;

fn rows(lines: &[&str]) -> (usize, usize) {
    let mut table = TextTable::default();
    for line in lines {
        if line.starts_with('-') {
            table.rule();
        } else {
            table.take(line);
        }
    }
    let (rows, gaps) = table.into_rows();
    (rows.len(), gaps.len())
}

#[test]
fn rows_that_do_not_fit_are_gaps() {
    let names = "DG/VD TYPE  State Cache     Size Name";
    assert_eq!(
        rows(&[names, "---", "0/0 RAID1 Optl RWBD 640.0 GB Main SSD", "0/1 RAID1 Optl RWBD 1 TB"]),
        (2, 0)
    );
    assert_eq!(rows(&[names, "---", "0/0 RAID1 RWBD 640.0 GB"]), (0, 1));
    assert_eq!(rows(&["0/0 RAID1 Optl RWBD 640.0 GB x"]), (0, 1));
    assert_eq!(rows(&[names, "0/0 RAID1 Optl RWBD 640.0 GB x"]), (0, 1));
}
