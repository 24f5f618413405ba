//! TLS: other machines connect with certificates of both ends, and in clear nothing is said.

use std::fs;
use std::net::TcpListener;

use super::{Served, peer, same, scene};
use crate::scene::Scene;

/// Makes an authority and the certificates of a server and a client, as libnbd and qemu look for
/// them; `false` if there is no openssl.
fn certificates(scene: &Scene, folder: &str) -> bool {
    fs::create_dir_all(scene.path(folder)).unwrap();
    let new = "openssl req -newkey rsa:2048 -nodes -batch";
    let script = format!(
        "set -e; cd {folder}
         {new} -x509 -days 2 -subj /CN=authority -keyout ca-key.pem -out ca-cert.pem
         for end in server client; do
           {new} -subj /CN=$end -keyout $end-key.pem -out $end.csr
           echo subjectAltName=IP:127.0.0.1,DNS:localhost >$end.ext
           openssl x509 -req -in $end.csr -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial \
             -days 2 -extfile $end.ext -out $end-cert.pem
         done"
    );
    if peer(scene, &["openssl", "version"]).is_none() {
        return false;
    }
    let made = peer(scene, &["sh", "-c", &script]).unwrap();
    made.expect_code(0);
    true
}

/// A server with TLS at a free port; `None` without openssl.
fn secure(scene: &Scene) -> Option<(Served<'_>, u16)> {
    if !certificates(scene, "pki") || !certificates(scene, "strangers") {
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    scene.write(
        "cache.toml",
        format!(
            "flash = \"flash.img\"\nlisten = [\"unix:nbd.sock\", \"0.0.0.0:{port}\"]\n\
             tls_cert = \"pki/server-cert.pem\"\ntls_key = \"pki/server-key.pem\"\n\
             tls_client_ca = \"pki/ca-cert.pem\"\n[[volume]]\nname = \"mail\"\n\
             device = \"disk.img\"\n"
        )
        .as_bytes(),
    );
    Some((Served::with(scene, vec!["cache", "serve", "--config", "cache.toml"]), port))
}

#[test]
fn clients_with_a_certificate_see_every_byte_and_others_nothing() {
    let scene = scene("cache-tls");
    let Some((served, port)) = secure(&scene) else {
        return;
    };
    let clear = format!("nbd://127.0.0.1:{port}/mail");
    let uri = |folder: &str| {
        let folder = scene.path(folder);
        format!("nbds://127.0.0.1:{port}/mail?tls-certificates={}", folder.display())
    };
    let ours = uri("pki");
    let Some(info) = peer(&scene, &["nbdinfo", &ours]) else {
        return;
    };
    info.expect_code(0).expect_out(&["with TLS", "export-size: 67108864"]);
    for refused in [&clear, &uri("strangers")] {
        let info = peer(&scene, &["nbdinfo", refused]).unwrap();
        assert_ne!(info.code, Some(0), "{refused}: {}", info.out);
        assert!(!info.out.contains("67108864"), "{}", info.out);
    }
    peer(&scene, &["nbdcopy", &ours, "copy.img"]).unwrap().expect_code(0);
    assert!(same(&scene.path("copy.img"), &scene.path("disk.img")));
    let mut changed = scene.read("disk.img");
    units::Prng::new(units::Seed(9)).fill(&mut changed[..(4 << 20) + 77]);
    scene.write("changed.img", &changed);
    peer(&scene, &["nbdcopy", "--flush", "changed.img", &ours]).unwrap().expect_code(0);
    assert!(same(&scene.path("changed.img"), &scene.path("disk.img")));
    let object = format!(
        "tls-creds-x509,id=tls,endpoint=client,dir={},verify-peer=yes",
        scene.path("pki").display()
    );
    let image = format!("driver=nbd,host=127.0.0.1,port={port},export=mail,tls-creds=tls");
    let words = [
        "qemu-img",
        "compare",
        "--object",
        &object,
        "--image-opts",
        &image,
        "driver=raw,file.driver=file,file.filename=disk.img",
    ];
    if let Some(compared) = peer(&scene, &words) {
        compared.expect_code(0).expect_out(&["Images are identical"]);
    }
    assert_eq!(served.stop(), 0);
}

#[test]
fn files_that_are_no_certificates_are_named_before_anything_is_served() {
    let scene = scene("cache-tls-files");
    let flags = |cert: &str| {
        let words = ["cache", "serve", "flash.img", "--volume", "mail=disk.img", "--listen"];
        let more = ["0.0.0.0:0", "--tls-cert", cert, "--tls-key", "k.pem", "--tls-client-ca", "c"];
        scene.run(words.iter().chain(&more).copied())
    };
    flags("none.pem").expect_refusal(&["c: cannot be used for TLS", "PEM file"]);
    scene.write("c", b"noise");
    flags("none.pem").expect_refusal(&["c: cannot be used for TLS", "holds no certificate"]);
    let words = ["cache", "serve", "flash.img", "--volume", "mail=disk.img", "--tls-cert", "x"];
    scene.run(words).expect_code(64).expect_err(&["--tls-key"]);
}
