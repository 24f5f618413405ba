//! The page of a served cache in the browser's server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use super::{Served, address, peer, scene};

#[test]
fn the_page_shows_what_the_cache_answers() {
    let scene = scene("cache-page");
    let served = Served::start(&scene);
    let uri = format!("--uri={}", address(&scene));
    let words = ["fio", "--name=r", "--ioengine=nbd", "--rw=randread", "--bs=32k", "--size=4M"];
    let is_read = peer(&scene, &[&words[..], &["--loops=2", uri.as_str()]].concat()).is_some();
    let words = ["--quiet", "serve", "--cache", "flash.img", "--cache", "none.img", "--listen"];
    let mut command = scene.command(words.iter().chain(&["127.0.0.1:0"]));
    command.env("XDG_CACHE_HOME", scene.path("caches")).stdout(Stdio::piped());
    let mut web = command.stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(web.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let place = line.trim().trim_start_matches("http://").split('/').next().unwrap().to_owned();
    let mut stream = TcpStream::connect(&place).unwrap();
    write!(stream, "GET /caches HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    web.kill().unwrap();
    web.wait().unwrap();
    let expected =
        ["State: <strong>working", "<h3>mail on disk.img", "none.img: no server answers"];
    for expected in expected {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    if is_read {
        assert!(page.contains("Latency of reads") && page.contains("50.0 %"), "{page}");
    }
    assert_eq!(served.stop(), 0);
}
