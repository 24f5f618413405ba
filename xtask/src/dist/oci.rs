//! A container image without a daemon: one layer with the program, and the documents that describe
//! it, in the layout of the Open Container Initiative.

use xtask::failure::Failure;

use super::archive::{gzip::pack, tar};
use super::digest::sha256;
use super::json::Json;
use super::release::{Release, day};
use super::tree::Tree;

/// A user id unused by other images and by hosts.
const USER: u32 = 65_532;

const ACCOUNTS: &str = "root:x:0:0:root:/:/sbin/nologin\n\
                        plimsoll:x:65532:65532:plimsoll:/data:/sbin/nologin\n";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// The name of the file.
pub(super) fn name(release: &Release) -> String {
    format!("plimsoll-{}-oci.tar", release.semantic())
}

/// The image in OCI layout, as an archive that `podman load` and `skopeo copy oci-archive:` read.
/// The program must need no library: the image contains none, and no shell.
pub(super) fn image(program: &[u8], licences: &str, release: &Release) -> Result<Vec<u8>, Failure> {
    let plain = tar::archive(&root(program, licences), "", release.epoch)?;
    let layer = pack(&plain)?;
    let config = configuration(&sha256(&plain)?, release)?.to_string().into_bytes();
    let manifest = Json::object([
        ("schemaVersion", Json::Number(2)),
        ("mediaType", Json::text(MANIFEST)),
        ("config", descriptor(CONFIG, &config)?),
        ("layers", Json::List(vec![descriptor(LAYER, &layer)?])),
    ]);
    let manifest = manifest.to_string().into_bytes();
    let Json::Object(mut named) = descriptor(MANIFEST, &manifest)? else {
        return Err(Failure::new("a descriptor is an object"));
    };
    let name = ("org.opencontainers.image.ref.name", Json::text(release.semantic()));
    named.push(("annotations".to_owned(), Json::object([name])));
    let index = Json::object([
        ("schemaVersion", Json::Number(2)),
        ("manifests", Json::List(vec![Json::Object(named)])),
    ]);
    let mut layout = Tree::default();
    layout.file("index.json", 0o644, index.to_string().into_bytes());
    layout.file("oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec());
    for blob in [layer, config, manifest] {
        layout.file(&format!("blobs/sha256/{}", sha256(&blob)?), 0o644, blob);
    }
    tar::archive(&layout, "", release.epoch)
}

/// The container's root file system.
fn root(program: &[u8], licences: &str) -> Tree {
    let mut tree = Tree::default();
    tree.file("etc/passwd", 0o644, ACCOUNTS.as_bytes().to_vec());
    tree.file("etc/group", 0o644, b"root:x:0:\nplimsoll:x:65532:\n".to_vec());
    tree.file("usr/bin/plimsoll", 0o755, program.to_vec());
    tree.file("usr/share/doc/plimsoll/LICENCES.txt", 0o644, licences.as_bytes().to_vec());
    tree.folder("data", 0o755, USER);
    tree.folder("tmp", 0o1777, 0);
    tree
}

fn configuration(diff: &str, release: &Release) -> Result<Json, Failure> {
    let user = format!("{USER}:{USER}");
    let empty = || Json::Object(Vec::new());
    let config = Json::object([
        ("User", Json::text(user)),
        ("ExposedPorts", Json::object([("8437/tcp", empty())])),
        ("Env", Json::List(vec![Json::text("PATH=/usr/bin"), Json::text("HOME=/data")])),
        ("Entrypoint", Json::List(vec![Json::text("/usr/bin/plimsoll")])),
        ("Volumes", Json::object([("/data", empty())])),
        ("WorkingDir", Json::text("/data")),
        (
            "Labels",
            Json::object([
                ("org.opencontainers.image.title", Json::text("plimsoll")),
                ("org.opencontainers.image.version", Json::text(release.semantic())),
                ("org.opencontainers.image.licenses", Json::text("MIT OR Apache-2.0")),
            ]),
        ),
    ]);
    let diffs = Json::List(vec![Json::text(format!("sha256:{diff}"))]);
    Ok(Json::object([
        ("created", Json::text(day(release.epoch, "%Y-%m-%dT%H:%M:%SZ")?)),
        ("architecture", Json::text("amd64")),
        ("os", Json::text("linux")),
        ("config", config),
        ("rootfs", Json::object([("type", Json::text("layers")), ("diff_ids", diffs)])),
    ]))
}

fn descriptor(kind: &str, bytes: &[u8]) -> Result<Json, Failure> {
    Ok(Json::object([
        ("mediaType", Json::text(kind)),
        ("digest", Json::text(format!("sha256:{}", sha256(bytes)?))),
        ("size", Json::Number(bytes.len() as u64)),
    ]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::image;
    use crate::dist::release::Release;
    use xtask::shell;

    /// A script that follows every digest from the index down to the layer, and lists the layer.
    const FOLLOW: &str = r#"
import hashlib, gzip, io, json, sys, tarfile
layout = tarfile.open(sys.argv[1])
def blob(d):
    bytes = layout.extractfile("blobs/sha256/" + d["digest"].split(":")[1]).read()
    assert len(bytes) == d["size"]
    assert "sha256:" + hashlib.sha256(bytes).hexdigest() == d["digest"]
    return bytes
assert json.load(layout.extractfile("oci-layout"))["imageLayoutVersion"] == "1.0.0"
manifest = json.loads(blob(json.load(layout.extractfile("index.json"))["manifests"][0]))
config = json.loads(blob(manifest["config"]))
plain = gzip.decompress(blob(manifest["layers"][0]))
assert "sha256:" + hashlib.sha256(plain).hexdigest() == config["rootfs"]["diff_ids"][0]
for m in tarfile.open(fileobj=io.BytesIO(plain)):
    print(m.name, oct(m.mode), m.uid)
print(config["config"]["User"], config["config"]["Entrypoint"], config["config"]["Volumes"])
"#;

    #[test]
    fn every_digest_leads_to_its_bytes_and_the_user_is_not_root() {
        let release = Release::example();
        let bytes = image(b"program", "terms", &release).unwrap();
        assert!(bytes == image(b"program", "terms", &release).unwrap(), "they differ");
        let folder = shell::root().join("target/dist-tests/oci");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("image.tar");
        fs::write(&file, bytes).unwrap();
        let said = shell::capture(&["python3", "-c", FOLLOW, &file.display().to_string()]).unwrap();
        for part in [
            "data 0o755 65532\n",
            "usr/bin/plimsoll 0o755 0\n",
            "tmp 0o1777 0\n",
            "65532:65532 ['/usr/bin/plimsoll'] {'/data': {}}",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("bin/sh"), "{said}");
    }
}
