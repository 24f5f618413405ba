//! Chromium without a window, spoken to in its `DevTools` protocol: JSON between zero bytes.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Reads commands from its input and writes answers to its output, as files 3 and 4.
const PIPED: &str = "exec chromium --headless --no-sandbox --disable-gpu --no-first-run \
     --disable-background-networking --disable-component-update --user-data-dir=\"$1\" \
     --remote-debugging-pipe about:blank 3<&0 4>&1 1>/dev/null 2>/dev/null";

pub(super) struct Chromium {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    profile: PathBuf,
    session: Option<String>,
    number: u64,
    errors: Vec<String>,
    has_loaded: bool,
}

impl Chromium {
    /// None where the machine has no Chromium.
    pub(super) fn start() -> Option<Self> {
        Command::new("chromium").arg("--version").stdout(Stdio::null()).status().ok()?;
        let name = format!("chromium-{}-{:?}", std::process::id(), std::thread::current().id());
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut command = Command::new("sh");
        command.args(["-c", PIPED, "sh"]).arg(&profile);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let commands = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut browser = Self {
            child,
            commands,
            answers,
            profile,
            session: None,
            number: 0,
            errors: Vec::new(),
            has_loaded: false,
        };
        browser.attach();
        Some(browser)
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", &attach);
        self.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            self.call(domain, &json!({}));
        }
    }

    /// Sends a command and waits for its answer.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).unwrap();
        loop {
            let message = self.hear();
            if message["id"] == self.number {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    fn hear(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes).unwrap();
        let text = bytes.strip_suffix(b"\0").expect("Chromium goes on");
        let message: Value = serde_json::from_slice(text).unwrap();
        let what = &message["params"];
        let is_error = match message["method"].as_str() {
            Some("Page.loadEventFired") => {
                self.has_loaded = true;
                false
            }
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => what["type"] == "error",
            Some("Log.entryAdded") => what["entry"]["level"] == "error",
            _ => false,
        };
        if is_error {
            self.errors.push(what.to_string());
        }
        message
    }

    /// The width of the window, and `light` or `dark`.
    pub(super) fn view(&mut self, width: u32, colours: &str) {
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let feature = json!({ "name": "prefers-color-scheme", "value": colours });
        self.call("Emulation.setEmulatedMedia", &json!({ "media": "", "features": [feature] }));
    }

    /// The page in print, until the next [`Self::view`].
    pub(super) fn view_print(&mut self) {
        self.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    }

    /// Opens a page and waits until it is loaded.
    pub(super) fn open(&mut self, address: &str) {
        self.has_loaded = false;
        self.call("Page.navigate", &json!({ "url": address }));
        while !self.has_loaded {
            self.hear();
        }
        // The end of the page before may have been heard.
        while self.value("document.readyState") != "complete" {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The value of an expression on the page.
    pub(super) fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true });
        self.call("Runtime.evaluate", &parameters)["result"]["value"].clone()
    }

    /// Presses a key where the focus is.
    pub(super) fn press(&mut self, key: &str) {
        let (code, number, text) = match key {
            "Enter" => ("Enter", 13, "\r"),
            " " => ("Space", 32, " "),
            "ArrowLeft" => (key, 37, ""),
            _ => (key, 9, ""),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({
                "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number,
            });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Types where the focus is.
    pub(super) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Keeps a picture of the page below `target` if `PLIMSOLL_SCREENSHOTS` is set. Pictures take a
    /// sixth of the processor time of these tests, and no test reads them.
    pub(super) fn screenshot(&mut self, name: &str) {
        if std::env::var_os("PLIMSOLL_SCREENSHOTS").is_none() {
            return;
        }
        // Packing pictures tightly takes longer than drawing the pages.
        let whole = json!({ "captureBeyondViewport": true, "optimizeForSpeed": true });
        let picture = self.call("Page.captureScreenshot", &whole);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
        fs::create_dir_all(&folder).unwrap();
        let decoded = Command::new("base64")
            .arg("-d")
            .stdin(Stdio::piped())
            .stdout(fs::File::create(folder.join(name)).unwrap())
            .spawn();
        let mut decoder = decoded.unwrap();
        let data = picture["data"].as_str().unwrap();
        decoder.stdin.take().unwrap().write_all(data.as_bytes()).unwrap();
        assert!(decoder.wait().unwrap().success());
    }

    /// What pages have complained of until now does not count.
    pub(super) fn forget_errors(&mut self) {
        self.errors.clear();
    }

    /// What pages have complained of since the browser was started.
    pub(super) fn errors(&self) -> Vec<String> {
        self.errors.clone()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}
