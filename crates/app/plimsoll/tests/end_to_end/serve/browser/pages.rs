//! Every page that the program writes or serves, at both widths and in both colours.

use std::sync::OnceLock;

use super::super::asked;
use super::super::http::Server;
use super::super::{wait_for, wait_for_simulation};
use super::chromium::Chromium;
use super::look_at;
#[cfg(target_os = "linux")]
use crate::cached;
use crate::scene::Scene;

/// Runs, and every page made of them, shared by the tests. No verdict is requested, and the state
/// of this machine's storage does not matter.
fn written() -> &'static Scene {
    static WRITTEN: OnceLock<Scene> = OnceLock::new();
    WRITTEN.get_or_init(|| write(Scene::shared("browser-written").with_databases()))
}

fn write(scene: Scene) -> Scene {
    scene.replay_logs(3);
    for (name, iops) in [("a", "200"), ("b", "100")] {
        let folder = format!("runs/{name}");
        let words = ["run", "plan.toml", "--duration", "6s", "--target-iops", iops, "-o", &folder];
        scene.run(words.iter().chain(&["--name", name]));
    }
    scene.run(["run", "plan.toml", "--test", "all", "--duration", "2s", "-o", "runs/all"]);
    scene.run(["line", "plan.toml", "--step", "1s", "-o", "line"]);
    scene.run(["compare", "runs/a", "runs/b", "--format", "html", "-o", "compare.html"]);
    scene.run(["run", "plan.toml", "--test", "backup", "-o", "runs/backup"]);
    let paper = ["report", "runs/a", "runs/backup", "--format", "esrp", "-o", "paper.html"];
    scene.run(paper);
    scene.run(["inspect", ".", "--html", "inspect.html"]);
    let deployment = scene.run(["size", "--example"]).out;
    scene.write("deployment.toml", deployment.as_bytes());
    let scenarios = ["--scenarios", "availability.servers_per_site=4,6,8"];
    let size = ["size", "deployment.toml", "--html", "size.html"];
    scene.run(size.iter().chain(&scenarios));
    scene.write("asked.toml", asked::PLAN.as_bytes());
    let simulate = ["simulate", "asked.toml", "--array", "shelf-15k", "--duration", "30s"];
    let what_if = ["--what-if", "raid.level=10,5", "-o", "what-if"];
    scene.run(simulate.iter().chain(&what_if));
    scene
}

#[test]
fn every_page_that_is_written_is_sound() {
    let Some(mut browser) = Chromium::start() else {
        return eprintln!("SKIPPED: no chromium on this machine");
    };
    let scene = written();
    for (file, name) in [
        ("runs/a/report.html", "written-report"),
        ("runs/all/report.html", "written-suite"),
        ("line/line.html", "written-line"),
        ("compare.html", "written-comparison"),
        ("paper.html", "written-paper"),
        ("inspect.html", "written-inspection"),
        ("size.html", "written-sizing"),
        ("what-if/what-if.html", "written-what-if"),
        ("what-if/what-if-01/report.html", "written-simulated"),
    ] {
        let path = scene.path(file);
        assert!(path.is_file(), "{file} was not written");
        look_at(&mut browser, &format!("file://{}", path.display()), name);
        expect_printable(&mut browser, name);
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn every_page_that_is_served_is_sound_and_its_forms_work_by_keyboard() {
    let Some(mut browser) = Chromium::start() else {
        return eprintln!("SKIPPED: no chromium on this machine");
    };
    let scene = written();
    let server = Server::start(scene, &["."]);
    let set = server.get("/run/runs/all").expect(200);
    set.expect_in(&["href=\"/csv/runs/all\"", "href=\"/json/runs/all\""]);
    server.get("/csv/runs/all").expect(200).expect_in(&["test,phase,from_s,", "\nStress,"]);
    server.get("/json/runs/all").expect(200).expect_in(&["\"tests\""]);
    let home = format!("http://{}", server.address);
    browser.open(&format!("{home}/?token={}", server.token));
    let trend = browser.value("document.querySelector('a[href^=\"/trend\"]').getAttribute('href')");
    let trend = trend.as_str().expect("a volume over time").to_owned();
    for (place, name) in [
        ("/", "served-list"),
        ("/run/runs/a", "served-report"),
        ("/run/runs/all", "served-suite"),
        ("/compare?run=runs/a&run=runs/b", "served-comparison"),
        (&*trend, "served-trend"),
        ("/size", "served-size"),
        ("/sized?tier.1.mailboxes=8000", "served-sized"),
        ("/labels/runs/a", "served-labels"),
        ("/simulate", "served-simulate"),
        ("/what-if/what-if", "served-what-if"),
    ] {
        look_at(&mut browser, &format!("{home}{place}"), name);
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
    // What cannot be sized is an answer with status 422, which browsers note as an error.
    look_at(&mut browser, &format!("{home}/sized?tier.1.mailboxes=many"), "served-size-refused");
    browser.forget_errors();
    browser.view(1280, "light");
    label_a_run(&mut browser, &home);
    browser.open(&format!("{home}/size"));
    browser.value("document.getElementById('tier.1.mailboxes').focus()");
    browser.type_text("7");
    browser.press("Enter");
    wait_for("the sizing", || has(&mut browser, "Change the answers"));
    browser.open(&format!("{home}/simulate"));
    browser.value("document.getElementById('plan').value = 'asked.toml'");
    browser.value("document.getElementById('array').value = 'shelf-15k'");
    browser.value("document.getElementById('duration').value = '30s'");
    browser.value("document.getElementById('changes').focus()");
    browser.type_text("cache.mode = write-back, write-through");
    for key in ["Tab", "Enter"] {
        browser.press(key);
    }
    wait_for_simulation("the ranking", || has(&mut browser, "Side By Side"));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_of_flash_caches_is_sound() {
    let Some(mut browser) = Chromium::start() else {
        return eprintln!("SKIPPED: no chromium on this machine");
    };
    let scene = cached::scene("browser-caches");
    let _served = cached::Served::start(&scene);
    let server = Server::start(&scene, &[".", "--cache", "flash.img", "--cache", "none.img"]);
    look_at(&mut browser, &format!("http://{}/caches", server.address), "served-caches");
    for part in ["mail on disk.img", "none.img: no server answers"] {
        assert_eq!(has(&mut browser, part), Some(()), "{part}");
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Headings, and the notes right below them, that may stand alone at the foot of a printed page;
/// lists with one column are no columns, which Chromium breaks before.
const LOOSE: &str = "(() => {
  const follows = '.scroll, table, dl, figure, .charts, .log';
  const heads = [...document.querySelectorAll('h2, h3')];
  const notes = heads.map(head => head.nextElementSibling)
    .filter(note => note?.matches('p') && note.nextElementSibling?.matches(follows));
  const single = [...document.querySelectorAll('dl.facts')]
    .filter(list => getComputedStyle(list).columnCount === '1');
  return heads.concat(notes).filter(of => of.checkVisibility())
    .filter(of => getComputedStyle(of).breakAfter !== 'avoid').concat(single)
    .map(of => of.textContent);
})()";

fn expect_printable(browser: &mut Chromium, name: &str) {
    browser.view_print();
    let loose = browser.value(LOOSE);
    assert_eq!(loose, serde_json::json!([]), "{name}");
}

fn has(browser: &mut Chromium, text: &str) -> Option<()> {
    let found = browser.value(&format!("document.body.textContent.includes({text:?})"));
    (found == true).then_some(())
}

/// Edits the name of the first run within the list, without a mouse.
fn label_a_run(browser: &mut Chromium, home: &str) {
    browser.open(home);
    browser.value("document.querySelector('a.edit').focus()");
    browser.press("Enter");
    wait_for("the form in the list", || {
        let focused = browser.value("document.activeElement.id");
        (focused == "label-name").then_some(())
    });
    browser.type_text("Renamed ");
    browser.press("Enter");
    wait_for("the new name", || has(browser, "Renamed "));
    let in_list = browser.value("location.pathname");
    assert_eq!(in_list, "/", "the list shows it");
}
