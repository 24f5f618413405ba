//! The pages in a real browser: Chromium, spoken to over a pipe. Skipped aloud where there is none.

mod chromium;
mod pages;

use serde_json::{Value, json};

use super::http::Server;
use super::{live_run, two_runs, wait_for};
use crate::scene::Scene;
use chromium::Chromium;

/// Widths of a desk and of a telephone, in both colours.
const VIEWS: [(u32, &str); 4] = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")];

/// The lowest contrast of any text with what lies behind it, by WCAG 2, and the text.
const LOWEST_CONTRAST: &str = r#"(() => {
  const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((of) => of / 255)
    .map((of) => (of <= 0.03928 ? of / 12.92 : ((of + 0.055) / 1.055) ** 2.4))
    .reduce((sum, of, at) => sum + of * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  let lowest = [99, ""];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((of) => of.nodeType === 3 && of.data.trim());
    if (!own || !node.getClientRects().length || node.closest("script,.unseen")) continue;
    const style = getComputedStyle(node);
    const ink = node.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [one, two] = [parse(ink), behind(node)].map(light);
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, node.textContent.trim().slice(0, 60)];
  }
  return lowest;
})()"#;

/// Looks at the page that is open, at every width and in both colours. Scripts may measure the
/// width once, when they draw; colours are a matter of the style sheet alone.
fn look_at(browser: &mut Chromium, address: &str, name: &str) {
    let mut drawn_at = None;
    for (width, colours) in VIEWS {
        browser.view(width, colours);
        if drawn_at.replace(width) != Some(width) {
            browser.open(address);
        }
        expect_sound(browser, &format!("{name}-{width}-{colours}"));
    }
}

/// The same of a page that must not be loaded anew.
fn look_at_open_page(browser: &mut Chromium, name: &str) {
    for (width, colours) in VIEWS {
        browser.view(width, colours);
        expect_sound(browser, &format!("{name}-{width}-{colours}"));
    }
}

/// Nothing is cut off and nothing is too faint; a picture of it is kept.
fn expect_sound(browser: &mut Chromium, name: &str) {
    let wide = browser.value("document.documentElement.scrollWidth - innerWidth");
    assert!(wide.as_f64().unwrap() <= 0.0, "{name}: {wide} px too wide");
    let lowest = browser.value(LOWEST_CONTRAST);
    assert!(lowest[0].as_f64().unwrap() >= 4.5, "{name}: {lowest}");
    browser.screenshot(&format!("{name}.png"));
}

#[test]
fn the_list_is_sound_at_every_width_and_works_by_keyboard() {
    let Some(mut browser) = Chromium::start() else {
        return eprintln!("SKIPPED: no chromium on this machine");
    };
    let scene = two_runs("browser-list");
    let server = Server::start(&scene, &["."]);
    let home = format!("http://{}/", server.address);
    look_at(&mut browser, &home, "list");
    look_at(&mut browser, &format!("{home}run/runs/one"), "report");
    assert_eq!(browser.errors(), Vec::<String>::new(), "the policy lets reports have their style");
    browser.view(1280, "light");
    browser.open(&home);
    let rows = "document.querySelectorAll('form[action=\"/compare\"] tbody tr').length";
    assert_eq!(browser.value(rows), 2);
    assert_eq!(browser.value("document.querySelectorAll('#volumes tbody tr').length"), 1);
    // Tab to both ticks, set them by the space bar, and press Enter on the button behind.
    let focus = "document.querySelectorAll('input[type=checkbox]')[0].focus()";
    browser.value(focus);
    browser.press(" ");
    tab_to(&mut browser, "document.querySelectorAll('input[type=checkbox]')[1]");
    browser.press(" ");
    tab_to(&mut browser, "document.querySelector('form[action=\"/compare\"] button')");
    browser.press("Enter");
    let title = wait_for("the comparison", || {
        let title = browser.value("document.title");
        title.as_str().filter(|title| title.contains("beside")).map(str::to_owned)
    });
    assert!(title.contains("array a"), "{title}");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Presses Tab until `element` has the focus.
fn tab_to(browser: &mut Chromium, element: &str) {
    let has_focus = format!("document.activeElement === {element}");
    let reached = (0..20).any(|_| {
        browser.press("Tab");
        browser.value(&has_focus) == true
    });
    assert!(reached, "no Tab reaches {element}");
}

#[test]
fn the_live_page_moves_and_its_stop_button_works_by_keyboard() {
    let Some(mut browser) = Chromium::start() else {
        return eprintln!("SKIPPED: no chromium on this machine");
    };
    let scene = Scene::prepared("browser-live");
    let server = Server::start(&scene, &["."]);
    let place = format!("/live/{}", live_run(&scene, &server));
    let home = format!("http://{}", server.address);
    browser.open(&format!("{home}/?token={}", server.token));
    let page = format!("{home}{place}");
    look_at(&mut browser, &page, "live");
    let drawn = "document.querySelector('#iops-chart polyline')?.points.length ?? 0";
    let mut points = || browser.value(drawn).as_u64().filter(|count| *count > 1);
    let first = wait_for("a line", &mut points);
    wait_for("a longer line", || points().filter(|count| *count > first));
    // Limits are drawn in the chart of latency, and the text read out stays when the page moves.
    let limits = browser.value("document.querySelectorAll('#latency-chart .limit-label').length");
    assert_eq!(limits, 3);
    let bars = "document.querySelectorAll('#histogram .bar').length";
    wait_for("the histogram", || browser.value(bars).as_u64().filter(|count| *count > 0));
    browser.value("document.getElementById('latency-chart').focus()");
    browser.press("ArrowLeft");
    let said = "document.querySelector('#latency-chart ~ .readout').textContent";
    let said = browser.value(said).as_str().unwrap_or_default().to_owned();
    assert!(said.contains("database reads") && said.contains("log writes"), "{said}");
    let decided = browser.value("document.getElementById('decisions').textContent");
    assert!(decided.as_str().unwrap().contains("2 databases"), "{decided}");
    let phase = browser.value("document.getElementById('phase').textContent");
    assert!([json!("warm-up"), json!("tuning"), json!("measurement")].contains(&phase), "{phase}");
    look_at_open_page(&mut browser, "live-moving");
    // By keyboard alone: Tab until the button has the focus.
    let is_there = "document.activeElement.className === 'stop'";
    (0..20).find(|_| {
        browser.press("Tab");
        browser.value(is_there) == true
    });
    browser.press("Enter");
    let asked = "document.querySelector('h1').textContent.startsWith('Stop ')";
    wait_for("the question", || (browser.value(asked) == true).then_some(()));
    (0..20).find(|_| {
        browser.press("Tab");
        browser.value(is_there) == true
    });
    browser.press("Enter");
    let report = wait_for("the report", || {
        let found: Value =
            browser.value("document.body.textContent.includes('topped by the user')");
        found.as_bool().filter(|found| *found)
    });
    assert!(report);
    assert_eq!(browser.errors(), Vec::<String>::new());
}
