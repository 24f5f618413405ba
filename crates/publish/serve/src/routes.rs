//! Handlers of each address, behind the gate.

mod actions;
mod fleets;
mod forms;
mod labels;
mod ranking;
mod stream;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use report::ReportForm;
use serde_json::{Value, json};
use verdict::NamedRun;

use crate::DocumentKind;
use crate::answers::{NoAnswer, answer, guard, html, refusal, see_other};
use crate::clock::epoch_ns;
use crate::gate::{Gate, GateRefusal, RequestHead};
use crate::metrics::{self, ScrapeFormat};
use crate::pages::{self, RunsShown, StartForm};
use crate::runs::{Known, Listed, ServedRuns};
use crate::sets::{self, ListEntry, LoadedSet, ServedSet, entries};
use crate::summary::VolumeIdentity;

type WebAnswer = Response<Body>;
type FormFields = Vec<(String, String)>;

const JSON: &str = "application/json";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every address of the server.
pub(crate) fn router(runs: ServedRuns, gate: Gate) -> Router {
    Router::new()
        .route("/", get(list))
        .route("/run/{*id}", get(report_page))
        .route("/live/{*id}", get(live_page))
        .route("/events/{*id}", get(stream::events))
        .route("/csv/{*id}", get(for_programs))
        .route("/json/{*id}", get(for_programs))
        .route("/compare", get(compare))
        .route("/trend", get(trend))
        .route("/caches", get(caches))
        .route("/size", get(forms::size_form))
        .route("/sized", get(forms::sized))
        .route("/simulate", get(forms::simulation_form).post(forms::simulate))
        .route("/what-if/{*id}", get(forms::what_if))
        .route("/api/runs", get(api_runs))
        .route("/metrics", get(scrape))
        .route("/style.css", get(async || answer(StatusCode::OK, "text/css", pages::style())))
        .route("/live.js", get(async || answer(StatusCode::OK, SCRIPT, pages::SCRIPT)))
        .route("/crosshair.js", get(async || answer(StatusCode::OK, SCRIPT, report::CROSSHAIR)))
        .route("/labels.js", get(async || answer(StatusCode::OK, SCRIPT, pages::LABELS_SCRIPT)))
        .route("/times.js", get(async || answer(StatusCode::OK, SCRIPT, pages::TIMES)))
        .route("/renew.js", get(async || answer(StatusCode::OK, SCRIPT, pages::RENEW)))
        .route("/stop/{*id}", get(actions::ask_to_stop).post(actions::stop))
        .route("/resume/{*id}", post(actions::resume))
        .route("/fleet/{*id}", get(fleets::page))
        .route("/stop-fleet/{*id}", post(fleets::stop))
        .route("/prepare", get(actions::preparation).post(actions::prepare))
        .route("/guide", post(actions::guide))
        .route("/start", post(actions::start))
        .route("/labels/{*id}", get(labels::form).post(labels::give))
        .fallback(async || missing("There is no such page."))
        .with_state(runs)
        .layer(middleware::from_fn_with_state(gate, enter))
}

/// Admits a request or rejects it with a reason; a token in the address is first turned into a
/// cookie.
async fn enter(State(gate): State<Gate>, mut request: Request, next: Next) -> WebAnswer {
    let mut response = match admitted(&gate, &request) {
        Ok(Admission::Goes { may_change }) => {
            request.extensions_mut().insert(MayChange(may_change));
            next.run(request).await
        }
        Ok(Admission::Gets(cookie)) => {
            let mut home = see_other("/");
            home.headers_mut().insert(header::SET_COOKIE, cookie);
            home
        }
        Err(why) => {
            refusal(StatusCode::FORBIDDEN, why.sentence()).titled(why.title()).into_response()
        }
    };
    guard(response.headers_mut());
    response
}

/// Whether a request has the token, so that pages only show forms that would be accepted.
#[derive(Clone, Copy, Debug)]
struct MayChange(bool);

/// Treatment of an admitted request.
enum Admission {
    /// It is handled.
    Goes { may_change: bool },
    /// Its address contains the token; the response sets it as this cookie.
    Gets(HeaderValue),
}

/// Admits a request, or returns the reason for refusing it.
fn admitted(gate: &Gate, request: &Request) -> Result<Admission, GateRefusal> {
    let headers = request.headers();
    let cookie_name = gate.cookie_name();
    let given = token_of_address(request.uri()).filter(|given| gate.accepts(given));
    let head = RequestHead {
        changes: !matches!(*request.method(), Method::GET | Method::HEAD),
        is_for_metrics: request.uri().path() == "/metrics",
        host: only(headers, header::HOST),
        origin: text(headers, header::ORIGIN),
        fetch_site: headers.get("sec-fetch-site").map(|of| of.to_str().unwrap_or("cross-site")),
        bearer: bearer(headers).or(given),
        cookie: cookie(headers, &cookie_name),
    };
    gate.judge(&head)?;
    let brings = given.filter(|_| request.method() == Method::GET);
    let cookie = brings.and_then(|token| {
        let cookie = format!("{cookie_name}={token}; HttpOnly; SameSite=Strict; Path=/");
        HeaderValue::from_str(&cookie).ok()
    });
    let goes = Admission::Goes { may_change: gate.has_token(&head) };
    Ok(cookie.map_or(goes, Admission::Gets))
}

/// The token of `/?token=...`, which the terminal shows.
fn token_of_address(uri: &Uri) -> Option<&str> {
    let query = uri.query().filter(|_| uri.path() == "/")?;
    query.strip_prefix("token=")
}

/// The value of a header that must occur exactly once.
fn only(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

/// The value of an optional header; `None` if it is missing. A value that is not text or occurs
/// twice becomes `null`, which no gate accepts.
fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().unwrap_or("null");
    Some(if all.next().is_some() { "null" } else { first })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    only(headers, header::AUTHORIZATION)?.strip_prefix("Bearer ")
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// Runs `work`, which may block for a while, without delaying other requests.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoAnswer> {
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        let text = "This is a bug in plimsoll; the terminal says where.";
        refusal(StatusCode::INTERNAL_SERVER_ERROR, text)
    })
}

fn missing(sentence: &str) -> NoAnswer {
    refusal(StatusCode::NOT_FOUND, sentence)
}

async fn list(
    State(runs): State<ServedRuns>,
    Extension(MayChange(may_change)): Extension<MayChange>,
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let query = value_of(&fields, "q");
        let mut all = runs.all();
        let root = runs.root_name();
        let volumes = if query.is_empty() { pages::volumes(&all, &root) } else { String::new() };
        let mut fleets = fleets::all(&runs);
        all.retain(|run| !fleets::is_part(run, &fleets));
        let all = entries(all, &root);
        let count = all.len() + fleets.len();
        fleets.retain(|(id, fleet)| id.contains(query) || fleet.name.contains(query));
        let start = may_change.then(|| StartForm {
            plans: runs.documents(DocumentKind::Plan),
            tests: runs.machine().tests(),
        });
        let entries = found(all, query);
        let shown =
            RunsShown { entries: &entries, fleets: &fleets, query, count, volumes: &volumes };
        html(pages::list(&shown, start.as_ref()))
    })
    .await
}

/// The runs and sets that match a search.
fn found(mut all: Vec<ListEntry>, query: &str) -> Vec<ListEntry> {
    all.retain(|entry| entry.matches(query));
    all
}

fn value_of<'a>(fields: &'a FormFields, name: &str) -> &'a str {
    fields.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value)
}

async fn api_runs(
    State(runs): State<ServedRuns>,
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let all = entries(runs.all(), &runs.root_name());
        let runs: Vec<Value> =
            found(all, value_of(&fields, "q")).iter().map(ListEntry::json).collect();
        let document = report::answer("runs", json!({ "runs": runs }));
        answer(StatusCode::OK, JSON, units::plain_json(&document.to_string()).into_owned())
    })
    .await
}

fn known(runs: &ServedRuns, id: &str) -> Result<Listed, NoAnswer> {
    runs.find(id).ok_or_else(|| missing("No such run lies in this folder."))
}

/// Applies `answer` to the requested run.
async fn of_run(
    runs: ServedRuns,
    id: String,
    answer: impl FnOnce(&ServedRuns, &Listed) -> Result<WebAnswer, NoAnswer> + Send + 'static,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || answer(&runs, &known(&runs, &id)?)).await?
}

/// An answer about the set of tests of this name; `None` if there is no such set.
async fn of_any_set(
    runs: &ServedRuns,
    id: &str,
    answer: impl FnOnce(&ServedSet, &LoadedSet) -> WebAnswer + Send + 'static,
) -> Result<Option<WebAnswer>, NoAnswer> {
    let (runs, id) = (runs.clone(), id.to_owned());
    beside(move || {
        let set = ServedSet::find(&runs, &id);
        set.map(|set| answer(&set, &set.load(&runs)))
    })
    .await
}

async fn report_page(
    State(runs): State<ServedRuns>,
    Extension(MayChange(may_change)): Extension<MayChange>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    let of_set = of_any_set(&runs, &id, |set, loaded| {
        html(pages::of_set(set, &loaded.report(ReportForm::Page)))
    });
    if let Some(set) = of_set.await? {
        return Ok(set);
    }
    of_run(runs, id, move |runs, run| {
        if run.is_live && forms::instead_of_live(runs, run).is_none() {
            // Its report would call a live run inconclusive.
            return Ok(see_other(&format!("/live/{}", pages::address(&run.id))));
        }
        let (record, verdict) = runs.load(run).map_err(unusable)?;
        let further = pages::for_programs(&run.id);
        let page = pages::of_report(&report::html(&record, &verdict), &further);
        let can_resume = may_change && !run.is_live && record.is_resumable();
        Ok(html(if can_resume { pages::with_resumption(&page, &run.id) } else { page }))
    })
    .await
}

/// The machine-readable forms of a run: every interval as comma-separated values, or its report in
/// JSON.
async fn for_programs(
    State(runs): State<ServedRuns>,
    uri: Uri,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    let is_csv = uri.path().starts_with("/csv/");
    let of_set = of_any_set(&runs, &id, move |_, set| {
        figures(is_csv, || set.report(ReportForm::Csv), || set.report(ReportForm::Json))
    });
    if let Some(set) = of_set.await? {
        return Ok(set);
    }
    of_run(runs, id, move |runs, run| {
        let (record, verdict) = runs.load(run).map_err(unusable)?;
        Ok(figures(is_csv, || report::csv(&record), || report::json(&record, &verdict)))
    })
    .await
}

fn figures(is_csv: bool, csv: impl FnOnce() -> String, json: impl FnOnce() -> String) -> WebAnswer {
    if is_csv {
        answer(StatusCode::OK, "text/csv; charset=utf-8", csv())
    } else {
        answer(StatusCode::OK, JSON, json())
    }
}

async fn live_page(
    State(runs): State<ServedRuns>,
    Extension(MayChange(may_change)): Extension<MayChange>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    of_run(runs, id, move |runs, run| {
        if let Some(elsewhere) = instead_of_live(runs, run) {
            return Ok(elsewhere);
        }
        Ok(html(pages::live(&run.id, &name_of_live(runs, run), may_change)))
    })
    .await
}

/// The page of a run that has ended or is not a measurement.
fn instead_of_live(runs: &ServedRuns, run: &Listed) -> Option<WebAnswer> {
    if !run.is_live {
        return Some(see_other(&format!("/run/{}", pages::address(&run.id))));
    }
    forms::instead_of_live(runs, run)
}

/// Name of a live run.
fn name_of_live(runs: &ServedRuns, run: &Listed) -> String {
    let name = runs.followed(run, |record| record.start.name.clone());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| run.id.clone())
}

async fn caches(State(runs): State<ServedRuns>) -> Result<WebAnswer, NoAnswer> {
    beside(move || Ok(html(pages::caches(&runs.machine().caches())))).await?
}

async fn compare(
    State(runs): State<ServedRuns>,
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let ids = compared_ids(fields);
        if let Some(page) = compared_sets(&runs, &ids)? {
            return Ok(html(page));
        }
        let mut named = Vec::new();
        for id in ids.into_iter().take(report::MOST_RUNS) {
            named.push(ended(&runs, id)?);
        }
        let own: Vec<&str> = named.iter().map(|run| run.record.start.name.as_str()).collect();
        let changes = record::scenario_names(named.iter().map(|run| &*run.record.start.options));
        let ids = || named.iter().map(|run| run.name.clone()).collect();
        let names = report::comparison_names(&own, changes.unwrap_or_else(ids));
        for (run, name) in named.iter_mut().zip(names) {
            run.name = name;
        }
        let compared = verdict::compare(&named).map_err(|error| unusable(error.to_string()))?;
        let page = report::render_comparison(ReportForm::Page, &named, &compared);
        Ok(html(pages::of_report(&page, &[])))
    })
    .await?
}

/// The comparison of sets of tests; `None` if no set was selected.
fn compared_sets(runs: &ServedRuns, ids: &[String]) -> Result<Option<String>, NoAnswer> {
    let mut sets = Vec::new();
    for id in ids {
        sets.extend(ServedSet::find(runs, id));
    }
    if sets.is_empty() {
        return Ok(None);
    }
    if sets.len() < ids.len() {
        return Err(unusable("Sets of tests compare only with sets of tests."));
    }
    if sets.len() < 2 {
        return Err(unusable("Select at least two sets to compare."));
    }
    if let Some(live) = sets.iter().find_map(ServedSet::live) {
        return Err(unusable(format!("{}: the run is live; wait for its end.", live.id)));
    }
    Ok(Some(pages::of_report(&sets::comparison_html(&sets, runs), &[])))
}

/// The selected runs; the first is the baseline for the others.
fn compared_ids(fields: FormFields) -> Vec<String> {
    let baseline = fields.iter().find(|(name, _)| name == "first");
    let mut ids = Vec::new();
    ids.extend(baseline.map(|(_, id)| id.clone()));
    let is_given = !ids.is_empty();
    for (name, id) in fields {
        if name == "run" && !(is_given && ids[0] == id) {
            ids.push(id);
        }
    }
    ids
}

/// Loads a run for a comparison; refuses one that is missing or live.
fn ended(runs: &ServedRuns, id: String) -> Result<NamedRun, NoAnswer> {
    let run = runs.find(&id).filter(|run| !run.is_live);
    let run = run.ok_or_else(|| missing("No such run lies in this folder, or it is live."))?;
    let (record, verdict) = runs.load_labelled(&run).map_err(unusable)?;
    Ok(NamedRun { name: id, record, verdict })
}

/// The page of a volume that a run names in its record.
async fn trend(
    State(runs): State<ServedRuns>,
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let volume = VolumeIdentity {
            machine: value_of(&fields, "machine").to_owned(),
            mount: value_of(&fields, "mount").to_owned(),
            model: value_of(&fields, "model").to_owned(),
            size_bytes: value_of(&fields, "bytes").parse().unwrap_or(0),
        };
        let mut all = runs.all();
        all.retain(|run| matches!(&run.known, Known::Summary(of) if of.volumes.contains(&volume)));
        if all.is_empty() {
            return Err(missing("No run of this folder was on that volume."));
        }
        Ok(html(pages::trend(&volume, &all)))
    })
    .await?
}

fn unusable(why: impl Into<String>) -> NoAnswer {
    refusal(StatusCode::UNPROCESSABLE_ENTITY, why)
}

async fn scrape(State(runs): State<ServedRuns>, headers: HeaderMap) -> Result<WebAnswer, NoAnswer> {
    let format = ScrapeFormat::of_accept(text(&headers, header::ACCEPT).unwrap_or_default());
    beside(move || {
        let metrics = metrics::of_all(&runs, epoch_ns());
        answer(StatusCode::OK, format.content_type(), format.write(&metrics))
    })
    .await
}

/// Refuses if a run or a simulation is in progress.
fn expect_idle(runs: &ServedRuns) -> Result<(), NoAnswer> {
    if is_busy(runs) {
        let text = "A second run would disturb it. Wait until it finishes, or stop it first.";
        return Err(refusal(StatusCode::CONFLICT, text).titled(BUSY));
    }
    Ok(())
}

/// Why no other run can be started.
const BUSY: &str = "Another run is in progress";

fn is_busy(runs: &ServedRuns) -> bool {
    runs.all().iter().any(|run| run.is_live)
}
