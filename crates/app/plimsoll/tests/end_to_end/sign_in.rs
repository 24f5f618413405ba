//! `profile --sign-in` against a certified `OpenID` provider, oidc-provider, on the loopback
//! interface. Skipped where node, npm, openssl or the package cannot be had. The two reports come
//! from a stand-in of ours: no Microsoft Graph can be reached from a test.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

const PACKAGE: &str = "oidc-provider@9.13.3";
const REPORTS: [&str; 2] = ["report getMailboxUsageDetail", "report getEmailActivityUserDetail"];

/// A provider that runs for as long as the test.
struct Provider {
    process: Child,
    /// Kept open: the provider would end where it cannot print its warnings.
    _out: BufReader<ChildStdout>,
    address: String,
    /// Beside the scene, so that the scene holds what the program writes and nothing else.
    folder: Scene,
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn is_done(command: &mut Command) -> bool {
    let done = command.stdin(Stdio::null()).output();
    done.is_ok_and(|done| done.status.success())
}

/// Location of the package, fetched once: two tests that fetch it at once would break each other's.
fn library() -> Option<PathBuf> {
    static FETCHED: OnceLock<Option<PathBuf>> = OnceLock::new();
    FETCHED.get_or_init(fetch).clone()
}

fn fetch() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PACKAGE);
    if !folder.exists() {
        let new = folder.with_extension(format!("{}.new", std::process::id()));
        fs::create_dir_all(&new).unwrap();
        let mut npm = Command::new("npm");
        npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
        npm.arg("--prefix").arg(&new).arg(PACKAGE);
        if !is_done(&mut npm) {
            eprintln!("skipped: {PACKAGE} cannot be installed with npm");
            let _ = fs::remove_dir_all(new);
            return None;
        }
        // Another run of the tests may have been faster.
        if fs::rename(&new, &folder).is_err() {
            fs::remove_dir_all(new).unwrap();
        }
    }
    Some(folder.join("node_modules/oidc-provider"))
}

fn script(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/end_to_end/sign_in");
    folder.join(name)
}

/// A certificate and its key in `folder`.
fn certify(folder: &Scene) -> bool {
    let words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
                 -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE";
    let mut openssl = Command::new("openssl");
    openssl.args(words.split_whitespace());
    openssl.arg("-keyout").arg(folder.path("key.pem"));
    openssl.arg("-out").arg(folder.path("cert.pem"));
    is_done(&mut openssl)
}

impl Provider {
    /// None, with the reason said, where this machine cannot.
    fn new(name: &str, mut wish: Value) -> Option<Self> {
        let library = library()?;
        let folder = Scene::new(&format!("{name}-provider"));
        if !certify(&folder) {
            eprintln!("skipped: openssl makes no certificate");
            return None;
        }
        wish["library"] = json!(library);
        for (what, file) in [
            ("certificate", "cert.pem"),
            ("key", "key.pem"),
            ("secrets", "secrets"),
            ("events", "events"),
        ] {
            wish[what] = json!(folder.path(file));
        }
        folder.write("secrets", b"");
        folder.write("events", b"");
        let mut node = Command::new("node");
        node.arg(script("provider.mjs")).arg(wish.to_string());
        node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut process) = node.spawn() else {
            eprintln!("skipped: node is not installed");
            return None;
        };
        let mut address = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        out.read_line(&mut address).unwrap();
        assert!(address.starts_with("http"), "the provider did not start");
        Some(Self { process, _out: out, address: address.trim().to_owned(), folder })
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = String::from_utf8(self.folder.read(file)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Questions to the token endpoint and for reports, in order.
    fn events(&self) -> Vec<String> {
        self.lines("events")
    }

    fn command(&self, scene: &Scene, way: &str, more: &[&str]) -> Command {
        let client = if way == "certificate" { "robot" } else { "person" };
        let mut command =
            scene.command(["profile", "--sign-in", way, "--client", client, "--json"]);
        command.args(["--authority", &self.address, "--graph", &self.address]);
        command.args(more).env("RUST_LOG", "trace");
        command
    }

    /// Signs in with the certificate.
    fn robot(&self, scene: &Scene) -> Ran {
        let certificate = self.folder.path("cert.pem").display().to_string();
        let mut command = self.command(scene, "certificate", &["--certificate", &certificate]);
        let key = String::from_utf8(self.folder.read("key.pem")).unwrap();
        command.env("PLIMSOLL_CERTIFICATE_KEY", key);
        let ran = Ran::of(&command.output().unwrap());
        self.expect_no_secret(scene, &ran, "");
        ran
    }

    /// Signs in as a person who says `answer`.
    fn person(&self, scene: &Scene, way: &str, answer: &str) -> Ran {
        let mut child = self.start(scene, way);
        let words = fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap();
        let (sender, lines) = mpsc::channel();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let reader = thread::spawn(move || {
            let mut line = String::new();
            let mut all = String::new();
            while err.read_line(&mut line).is_ok_and(|length| length > 0) {
                all += &line;
                let _ = sender.send(std::mem::take(&mut line));
            }
            all
        });
        let place = lines.iter().find_map(|line| place(&line));
        let mut browser = Command::new("node");
        let (address, code) = place.expect("no address to open");
        browser.arg(script("browser.mjs")).args([&address, answer, &code]);
        browser.stdout(Stdio::piped()).stderr(Stdio::piped());
        let browser = browser.spawn().unwrap();
        let page = Ran::of(&browser.wait_with_output().unwrap());
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        let code = child.wait().unwrap().code();
        let err = format!("{}\n(browser: {} {})", reader.join().unwrap(), page.out, page.err);
        let ran = Ran { code, out, err };
        self.expect_no_secret(scene, &ran, &words);
        ran
    }

    fn start(&self, scene: &Scene, way: &str) -> Child {
        let mut command = self.command(scene, way, &[]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// No token, code, assertion, verifier or address of a download was printed, is among the
    /// arguments of a process, or is in a file.
    fn expect_no_secret(&self, scene: &Scene, ran: &Ran, words: &str) {
        let mut secrets = self.lines("secrets");
        let key = String::from_utf8(self.folder.read("key.pem")).unwrap();
        secrets.extend(key.lines().skip(1).take(3).map(str::to_owned));
        let is_noted = ran.code != Some(0) || secrets.len() > 3;
        assert!(is_noted, "the provider noted no secret");
        for secret in secrets {
            for text in [&ran.out, &ran.err, words] {
                assert!(!text.contains(&secret), "{secret} in {text}");
            }
        }
        assert_eq!(scene.listing(), [], "signing in writes no file");
    }
}

/// The address and the code to type in a line for people, as programs receive it.
fn place(line: &str) -> Option<(String, String)> {
    let event: Value = serde_json::from_str(line).ok()?;
    let line = event["text"].as_str()?.trim();
    if line.starts_with("http") {
        return Some((line.to_owned(), String::new()));
    }
    let (address, rest) = line.strip_prefix("Open ")?.split_once(" in any browser, ")?;
    let (code, _) = rest.strip_prefix("type the code ")?.split_once(' ')?;
    Some((address.to_owned(), code.to_owned()))
}

/// Both reports, in figures that only both together give.
#[track_caller]
fn expect_profile(ran: &Ran) {
    ran.expect_code(0);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["mailboxes"], 2, "{json}");
    assert_eq!(json["tiers"][0]["initial_size_bytes"], 2_u64 << 30, "{json}");
    assert_eq!(json["files"][1]["name"], "getEmailActivityUserDetail");
    assert!(json["tiers"][0]["messages_per_day"].as_f64().unwrap() > 39.0, "{json}");
}

#[test]
fn a_browser_brings_a_code_that_is_redeemed_with_its_proof() {
    let Some(provider) = Provider::new("sign-in-browser", json!({})) else {
        return;
    };
    let scene = Scene::new("sign-in-browser");
    expect_profile(&provider.person(&scene, "browser", "yes"));
    let [usage, activity] = REPORTS;
    // Nothing else is asked for.
    assert_eq!(provider.events(), ["authorization_code ok", usage, activity]);
}

#[test]
fn a_device_code_is_polled_for_until_it_is_used() {
    let Some(provider) = Provider::new("sign-in-device", json!({})) else {
        return;
    };
    let scene = Scene::new("sign-in-device");
    expect_profile(&provider.person(&scene, "device", "yes"));
    let events = provider.events();
    let last = &events[events.len() - 3..];
    assert!(last[0].ends_with("device_code ok"), "{events:?}");
    assert_eq!(last[1..], REPORTS);
}

#[test]
fn a_certificate_signs_in_without_a_person_over_tls() {
    let Some(provider) = Provider::new("sign-in-tls", json!({ "tls": true, "throttle": 1 })) else {
        return;
    };
    let scene = Scene::new("sign-in-tls");
    let certificate = provider.folder.path("cert.pem");
    let words = ["--certificate", certificate.to_str().unwrap()];
    let mut command = provider.command(&scene, "certificate", &words);
    let key = String::from_utf8(provider.folder.read("key.pem")).unwrap();
    command.env("PLIMSOLL_CERTIFICATE_KEY", key);
    // An unknown certificate of the server is refused, a trusted one taken.
    let refused = Ran::of(&command.output().unwrap());
    refused.expect_refusal(&[&provider.address, "certificate"]);
    let ran = Ran::of(&command.env("SSL_CERT_FILE", &certificate).output().unwrap());
    provider.expect_no_secret(&scene, &ran, "");
    expect_profile(&ran);
    let [usage, activity] = REPORTS;
    // Asked to wait once, it asks again.
    assert_eq!(provider.events(), ["client_credentials ok", usage, usage, activity]);
}

#[test]
fn access_that_ends_on_the_way_is_renewed() {
    let wish = json!({ "accessSeconds": 4, "graphMilliseconds": 3500 });
    let Some(provider) = Provider::new("sign-in-renewed", wish) else {
        return;
    };
    let scene = Scene::new("sign-in-renewed");
    expect_profile(&provider.person(&scene, "browser", "yes"));
    let [usage, activity] = REPORTS;
    let events = provider.events();
    assert_eq!(events, ["authorization_code ok", usage, "refresh_token ok", activity]);
    expect_profile(&provider.robot(&scene));
    let events = provider.events().split_off(4);
    assert_eq!(events, ["client_credentials ok", usage, "client_credentials ok", activity]);
}

#[test]
fn a_token_that_is_refused_early_is_renewed_once() {
    let Some(provider) = Provider::new("sign-in-revoked", json!({ "revoke": 1 })) else {
        return;
    };
    let scene = Scene::new("sign-in-revoked");
    expect_profile(&provider.person(&scene, "browser", "yes"));
    let [usage, activity] = REPORTS;
    let events = provider.events();
    assert_eq!(events, ["authorization_code ok", usage, "refresh_token ok", usage, activity]);
    let Some(provider) = Provider::new("sign-in-revoked", json!({ "revoke": 9 })) else {
        return;
    };
    let refused = provider.robot(&scene);
    refused.expect_refusal(&["getMailboxUsageDetail", "401", "Reports.Read.All"]);
}

#[test]
fn a_person_who_says_no_is_believed() {
    let Some(provider) = Provider::new("sign-in-no", json!({})) else {
        return;
    };
    let scene = Scene::new("sign-in-no");
    for way in ["browser", "device"] {
        let ran = provider.person(&scene, way, "no");
        ran.expect_refusal(&["the sign-in: access_denied", "import files"]);
    }
    assert!(provider.events().iter().all(|event| !event.starts_with("report")));
}

#[test]
fn a_device_code_that_is_not_used_in_time_ends() {
    let Some(provider) = Provider::new("sign-in-late", json!({ "deviceSeconds": 8 })) else {
        return;
    };
    let scene = Scene::new("sign-in-late");
    let child = provider.start(&scene, "device");
    let ran = Ran::of(&child.wait_with_output().unwrap());
    provider.expect_no_secret(&scene, &ran, "");
    ran.expect_refusal(&["not finished in time", "start again"]);
}

#[test]
fn a_wrong_clock_is_said_and_does_no_harm() {
    for (ahead, words) in [(7200, "behind"), (-7200, "ahead of")] {
        let wish = json!({ "clockAheadSeconds": ahead });
        let Some(provider) = Provider::new("sign-in-clock", wish) else {
            return;
        };
        let scene = Scene::new("sign-in-clock");
        let ran = provider.robot(&scene);
        expect_profile(&ran);
        ran.expect_err(&["The clock of this machine is 7", words]);
        expect_profile(&provider.person(&scene, "browser", "yes"));
    }
}

#[test]
fn what_the_tenant_has_not_allowed_is_named() {
    let Some(provider) = Provider::new("sign-in-forbidden", json!({ "forbidden": true })) else {
        return;
    };
    let scene = Scene::new("sign-in-forbidden");
    let refused = provider.robot(&scene);
    refused.expect_refusal(&["getMailboxUsageDetail", "403", "Reports.Read.All", "consent"]);
}

#[test]
fn a_certificate_that_is_not_registered_is_refused() {
    let Some(provider) = Provider::new("sign-in-stranger", json!({})) else {
        return;
    };
    let scene = Scene::new("sign-in-stranger");
    // A pair that the provider has never seen.
    assert!(certify(&provider.folder));
    let mut command = provider.command(&scene, "certificate", &[]);
    command.arg("--certificate").arg(provider.folder.path("cert.pem"));
    let key = String::from_utf8(provider.folder.read("key.pem")).unwrap();
    command.env("PLIMSOLL_CERTIFICATE_KEY", key);
    let ran = Ran::of(&command.output().unwrap());
    ran.expect_refusal(&["the certificate: invalid_client", "--client"]);
}

#[test]
fn what_cannot_be_signed_in_with_is_refused_before_anything_is_sent() {
    let scene = Scene::new("sign-in-flags");
    let refuse = |words: &str, parts: &[&str]| {
        let words = format!("profile --sign-in {words}");
        scene.run(words.split(' ')).expect_refusal(parts);
    };
    refuse("browser", &["--client ID", "Reports.Read.All"]);
    refuse("device --client a --tenant a/b", &["--tenant a/b", "contoso.com"]);
    refuse("certificate --client a", &["--certificate FILE", "PLIMSOLL_CERTIFICATE_KEY"]);
    refuse(
        "device --client a --authority http://login.example/t",
        &["authority http://login.example", "https://"],
    );
    refuse(
        "device --client a --authority http://127.0.0.1:9/t --graph http://graph.example",
        &["graph http://graph.example", "https://"],
    );
    refuse("device --client a --authority http://127.0.0.1:9/t", &["http://127.0.0.1:9:"]);
    scene.write("half.pem", b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
    refuse(
        "certificate --client a --authority http://127.0.0.1:9 --certificate half.pem",
        &["no key that is readable without a password"],
    );
    scene.run(["profile", "--tenant", "contoso.com", "x.csv"]).expect_code(64);
}
