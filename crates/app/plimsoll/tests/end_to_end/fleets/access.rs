//! Who reaches the server of a fleet: certificates, credentials, and the rights of agents.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Fleet, free_address, has_server};
use crate::scene::Scene;

/// A certificate made by openssl in `folder`; false without that program.
fn certificate(folder: &Path, words: &[&str]) -> bool {
    let mut command = Command::new("openssl");
    command.current_dir(folder).args(["req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"]);
    command.args(["-pkeyopt", "ec_paramgen_curve:prime256v1"]).args(words);
    command.output().is_ok_and(|output| output.status.success())
}

/// Changes a member of a file of credentials.
fn change(path: &Path, member: &str, value: &str) {
    let text = fs::read_to_string(path).unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    all[member] = value.into();
    fs::write(path, all.to_string()).unwrap();
}

#[test]
fn a_server_with_a_certificate_is_trusted_by_its_authority_alone() {
    if !has_server() {
        return;
    }
    let scene = Scene::new("fleet-tls");
    let authority = ["-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"];
    if !certificate(&scene.folder, &authority) {
        eprintln!("SKIPPED: openssl is not installed (apt-get install openssl)");
        return;
    }
    let signed = ["-subj", "/CN=server", "-CA", "ca.pem", "-CAkey", "ca.key", "-addext"];
    let names = ["subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"];
    let files = ["-keyout", "server.key", "-out", "server.pem"];
    assert!(certificate(&scene.folder, &[&signed[..], &names, &files].concat()));
    let listen = free_address();
    let up = ["fleet", "up", "--listen", &listen, "--tls-cert", "server.pem"];
    let tls = ["--tls-key", "server.key", "--tls-ca", "ca.pem"];
    let fleet = Fleet { scene, agents: Vec::new() };
    let scene = &fleet.scene;
    let up = scene.run([&up[..], &tls].concat());
    up.expect_code(0).expect_out(&["tls://127.0.0.1:"]);
    // No agent has joined; the server answered over TLS.
    scene.run(["fleet", "hosts"]).expect_code(2).expect_out(&["No agent has joined"]);
    // Credentials in a folder that cannot be written, as Kubernetes mounts them.
    let beside = scene.path("plimsoll-fleet/controller.ca.pem");
    fs::remove_file(&beside).unwrap();
    fs::create_dir(&beside).unwrap();
    scene.run(["fleet", "hosts"]).expect_code(2).expect_out(&["No agent has joined"]);
    let other = ["-subj", "/CN=other", "-keyout", "other.key", "-out", "other.pem"];
    assert!(certificate(&scene.folder, &other));
    let credentials = scene.path("plimsoll-fleet/controller.json");
    let text = fs::read_to_string(&credentials).unwrap();
    change(&credentials, "authority", &String::from_utf8(scene.read("other.pem")).unwrap());
    scene.run(["fleet", "hosts"]).expect_refusal(&["certificate of the NATS server", "fleet up"]);
    fs::write(&credentials, text).unwrap();
}

#[test]
fn credentials_are_private_and_those_of_others_are_refused_in_a_sentence() {
    let Some(fleet) = Fleet::up("fleet-access") else { return };
    let scene = &fleet.scene;
    let [controller, agent] =
        ["controller.json", "agent.json"].map(|name| scene.path("plimsoll-fleet").join(name));
    for file in [&controller, &agent, &scene.path("plimsoll-fleet/nats.conf")] {
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o640)).unwrap();
    let words = ["agent", "--credentials", "plimsoll-fleet/agent.json"];
    scene.run(words).expect_refusal(&["agent.json", "others can read it", "chmod 600"]);
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o600)).unwrap();
    // An agent's credentials do not control the fleet.
    let own = fs::read_to_string(&controller).unwrap();
    let of_agent = fs::read(&agent).unwrap();
    fs::write(&controller, of_agent).unwrap();
    for verb in ["status", "hosts"] {
        scene.run(["fleet", verb]).expect_refusal(&["use controller.json, not agent.json"]);
    }
    fs::write(&controller, &own).unwrap();
    change(&controller, "password", "foreign-password");
    let ran = scene.run(["fleet", "hosts"]);
    ran.expect_refusal(&["refuses these credentials", "fleet up"]);
    assert!(!ran.err.contains("foreign-password"), "{}", ran.err);
    fs::write(&controller, own).unwrap();
}
