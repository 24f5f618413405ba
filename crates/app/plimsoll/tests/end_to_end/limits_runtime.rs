//! `limits` beside a runtime that enforces limits: ASP.NET of Mono refuses what `limits` says that
//! it refuses. Skipped where Mono's web server or nginx is not installed.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::scene::Scene;

const RUNTIME: &str = "fastcgi-mono-server4";
const KIB: usize = 1 << 10;
/// Longer than the runtime ever took to compile the page.
const PATIENCE: Duration = Duration::from_secs(30);

const PAGE: &str = "<%@ WebHandler Language=\"C#\" Class=\"Echo\" %>\n\
    public class Echo : System.Web.IHttpHandler {\n\
    public bool IsReusable { get { return true; } }\n\
    public void ProcessRequest(System.Web.HttpContext context) {\n\
    var request = context.Request;\n\
    context.Response.Write(request.BinaryRead(request.ContentLength).Length); } }\n";

/// The section lies in a location without a path, as it does in the files of Outlook on the web.
const FILE: &str = "<?xml version=\"1.0\"?>\n<configuration>\n  <location>\n    <system.web>\n\
    \x20     <httpRuntime maxRequestLength=\"9\" />\n    </system.web>\n    <system.webServer>\n\
    \x20   </system.webServer>\n  </location>\n</configuration>\n";

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command) -> Option<Running> {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().ok().map(Running)
}

fn nginx_file(port: u16) -> String {
    let parameters = [
        "SCRIPT_NAME $fastcgi_script_name",
        "SCRIPT_FILENAME $document_root$fastcgi_script_name",
        "SERVER_ADDR 127.0.0.1",
        "PATH_INFO \"\"",
        "REQUEST_METHOD $request_method",
        "QUERY_STRING $query_string",
        "CONTENT_TYPE $content_type",
        "CONTENT_LENGTH $content_length",
        "SERVER_PROTOCOL $server_protocol",
        "SERVER_NAME localhost",
        "SERVER_PORT 80",
        "REMOTE_ADDR 127.0.0.1",
        "REQUEST_URI $request_uri",
    ];
    let parameters = parameters.map(|line| format!("fastcgi_param {line};\n"));
    format!(
        "daemon off; master_process off; pid nginx.pid; error_log stderr;\nevents {{}}\n\
         http {{ access_log off; client_max_body_size 0; client_body_temp_path body;\n\
         fastcgi_temp_path a; proxy_temp_path b; uwsgi_temp_path c; scgi_temp_path d;\n\
         server {{ listen 127.0.0.1:{port};\n\
         location / {{ fastcgi_pass unix:mono.sock;\n{}}} }} }}\n",
        parameters.concat()
    )
}

/// Posts `bytes` bytes and returns the status, or `None` if nothing answers yet.
fn post(port: u16, bytes: usize) -> Option<u16> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /echo.ashx HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    // A server that refuses may close before it has read everything.
    let _ = stream.write_all(&vec![b'x'; bytes]);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.split(' ').nth(1)?.parse().ok()
}

/// Runs the folder `application` and posts each of `sizes`.
fn statuses(scene: &Scene, application: &Path, sizes: [usize; 2]) -> Option<[u16; 2]> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let socket = scene.path("mono.sock");
    let _ = fs::remove_file(&socket);
    scene.write("nginx.conf", nginx_file(port).replace("mono.sock", socket.to_str()?).as_bytes());
    let _runtime = start(
        Command::new(RUNTIME)
            .arg(format!("/applications=/:{}", application.display()))
            .arg(format!("/socket=unix:{}", socket.display())),
    )?;
    let _server = start(
        Command::new("nginx").arg("-p").arg(&scene.folder).arg("-c").arg(scene.path("nginx.conf")),
    )?;
    let started = Instant::now();
    while post(port, 1) != Some(200) {
        assert!(started.elapsed() < PATIENCE, "the runtime does not answer");
        std::thread::sleep(Duration::from_millis(200));
    }
    Some(sizes.map(|size| post(port, size).unwrap()))
}

#[test]
fn the_runtime_enforces_the_limit_that_was_set() {
    let scene = Scene::new("limits-runtime");
    let application = scene.path("FrontEnd/HttpProxy/owa");
    fs::create_dir_all(&application).unwrap();
    fs::write(application.join("web.config"), FILE).unwrap();
    fs::write(application.join("echo.ashx"), PAGE).unwrap();
    for kib in [64, 128] {
        let size = format!("{kib}KiB");
        let words = ["limits", "set", ".", "--owa", size.as_str(), "--write"];
        scene.run(words).expect_code(0);
        let shown = scene.run(["limits", "show", "."]);
        shown.expect_code(0).expect_out(&[&format!("{} bytes", kib * KIB)]);
        // The runtime counts whole kilobytes.
        let sizes = [kib * KIB, (kib + 1) * KIB];
        let Some(found) = statuses(&scene, &application, sizes) else {
            eprintln!("skipped: {RUNTIME} or nginx is not installed");
            return;
        };
        assert_eq!(found[0], 200, "{size} exactly");
        assert!((400..600).contains(&found[1]), "1 KiB above {size}: {}", found[1]);
    }
}
