//! What each address answers. The gate stands before all of them.

mod forms;
mod stream;

use axum::Router;
use axum::body::Body;
use axum::extract::{Form, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use serde_json::{Value, json};
use verdict::NamedRun;

use crate::DocumentKind;
use crate::answers::{NoAnswer, answer, guard, html, refusal, see_other};
use crate::clock::epoch_ns;
use crate::gate::{Gate, RequestHead};
use crate::metrics::{self, ScrapeFormat};
use crate::pages;
use crate::runs::{Known, Listed, ServedRuns};
use crate::sets::{self, ListEntry, ServedSet, entries};
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
        .route("/compare", get(compare))
        .route("/trend", get(trend))
        .route("/size", get(forms::size_form))
        .route("/sized", get(forms::sized))
        .route("/simulate", get(forms::simulation_form).post(forms::simulate))
        .route("/what-if/{*id}", get(forms::what_if))
        .route("/api/runs", get(api_runs))
        .route("/metrics", get(scrape))
        .route("/style.css", get(async || answer(StatusCode::OK, "text/css", pages::style())))
        .route("/live.js", get(async || answer(StatusCode::OK, SCRIPT, pages::SCRIPT)))
        .route("/crosshair.js", get(async || answer(StatusCode::OK, SCRIPT, report::CROSSHAIR)))
        .route("/stop/{*id}", post(stop))
        .route("/start", post(start))
        .fallback(async || missing("There is no such page."))
        .with_state(runs)
        .layer(middleware::from_fn_with_state(gate, enter))
}

/// Lets a request in, or says why not; the token in an address becomes a cookie first.
async fn enter(State(gate): State<Gate>, request: Request, next: Next) -> WebAnswer {
    let mut response = match admitted(&gate, &request) {
        Ok(None) => next.run(request).await,
        Ok(Some(cookie)) => {
            let mut home = see_other("/");
            home.headers_mut().insert(header::SET_COOKIE, cookie);
            home
        }
        Err(sentence) => refusal(StatusCode::FORBIDDEN, sentence).into_response(),
    };
    guard(response.headers_mut());
    response
}

/// Whether a request may go on; the cookie that it gets instead, where it brings the token.
fn admitted(gate: &Gate, request: &Request) -> Result<Option<HeaderValue>, &'static str> {
    let headers = request.headers();
    let cookie_name = gate.cookie_name();
    let given = token_of_address(request.uri()).filter(|given| gate.accepts(given));
    let head = RequestHead {
        changes: !matches!(*request.method(), Method::GET | Method::HEAD),
        host: only(headers, header::HOST),
        origin: text(headers, header::ORIGIN),
        fetch_site: headers.get("sec-fetch-site").map(|of| of.to_str().unwrap_or("cross-site")),
        bearer: bearer(headers).or(given),
        cookie: cookie(headers, &cookie_name),
    };
    gate.judge(&head).map_err(crate::gate::GateRefusal::sentence)?;
    let brings = given.filter(|_| request.method() == Method::GET);
    Ok(brings.and_then(|token| {
        let cookie = format!("{cookie_name}={token}; HttpOnly; SameSite=Strict; Path=/");
        HeaderValue::from_str(&cookie).ok()
    }))
}

/// The token of `/?token=...`, which the terminal shows.
fn token_of_address(uri: &Uri) -> Option<&str> {
    let query = uri.query().filter(|_| uri.path() == "/")?;
    query.strip_prefix("token=")
}

/// The value of a header that must be there once.
fn only(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

/// The value of a header, where it is given; one that is no text is none of ours.
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

/// Reads, which may take a while, beside the requests of others.
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
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let query = value_of(&fields, "q");
        let all = entries(runs.all(), &runs.root_name());
        let count = all.len();
        let plans = runs.documents(DocumentKind::Plan);
        html(pages::list(&found(all, query), query, count, &plans))
    })
    .await
}

/// The runs and sets that a search finds.
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
        let document = json!({ "schema": "plimsoll.runs/1", "runs": runs });
        answer(StatusCode::OK, JSON, units::plain_json(&document.to_string()).into_owned())
    })
    .await
}

fn known(runs: &ServedRuns, id: &str) -> Result<Listed, NoAnswer> {
    runs.find(id).ok_or_else(|| missing("No such run lies in this folder."))
}

async fn report_page(
    State(runs): State<ServedRuns>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        if let Some(set) = ServedSet::find(&runs, &id) {
            return Ok(html(pages::of_set(&set, &set.load(&runs).html())));
        }
        let run = known(&runs, &id)?;
        let (record, verdict) = runs.load(&run).map_err(unusable)?;
        Ok(html(pages::of_report(&report::html(&record, &verdict), &[])))
    })
    .await?
}

async fn live_page(
    State(runs): State<ServedRuns>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let run = known(&runs, &id)?;
        if !run.is_live {
            return Ok(see_other(&format!("/run/{}", pages::address(&id))));
        }
        if let Some(elsewhere) = forms::instead_of_live(&runs, &run) {
            return Ok(elsewhere);
        }
        let name = runs.followed(&run, |record| record.start.name.clone());
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| id.clone());
        Ok(html(pages::live(&id, &name)))
    })
    .await?
}

async fn compare(
    State(runs): State<ServedRuns>,
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let ids: Vec<String> = fields
            .into_iter()
            .filter_map(|(name, id)| (name == "run").then_some(id))
            .take(report::MOST_RUNS)
            .collect();
        if let Some(page) = compared_sets(&runs, &ids)? {
            return Ok(html(page));
        }
        let mut named = Vec::new();
        for id in ids {
            named.push(ended(&runs, id)?);
        }
        let compared = verdict::compare(&named).map_err(|error| unusable(error.to_string()))?;
        Ok(html(pages::of_report(&report::comparison_html(&named, &compared), &[])))
    })
    .await?
}

/// The comparison of sets of tests; none if no set was ticked.
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
        return Err(unusable("One set has nothing beside it: name at least two."));
    }
    if let Some(live) = sets.iter().find_map(ServedSet::live) {
        return Err(unusable(format!("{}: the run is live; wait for its end.", live.id)));
    }
    Ok(Some(pages::of_report(&sets::comparison_html(&sets, runs), &[])))
}

/// A run that can stand beside others.
fn ended(runs: &ServedRuns, id: String) -> Result<NamedRun, NoAnswer> {
    let run = runs.find(&id).filter(|run| !run.is_live);
    let run = run.ok_or_else(|| missing("No such run lies in this folder, or it is live."))?;
    let (record, verdict) = runs.load(&run).map_err(unusable)?;
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

async fn stop(
    State(runs): State<ServedRuns>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let refused = |why| refusal(StatusCode::CONFLICT, why);
        if let Some(asked) = forms::stop_simulations(&runs, &id) {
            asked.map_err(refused)?;
            return Ok(see_other("/"));
        }
        let run = runs.find(&id).filter(|run| run.is_live);
        let run = run.ok_or_else(|| missing("No such run goes on in this folder."))?;
        runs.machine().stop(&run.folder).map_err(refused)?;
        Ok(see_other(&format!("/live/{}", pages::address(&id))))
    })
    .await?
}

/// Refuses where a run or a simulation goes on.
fn expect_idle(runs: &ServedRuns) -> Result<(), &'static str> {
    if runs.all().iter().any(|run| run.is_live) {
        return Err("A run goes on; a second one would disturb it. Wait for its end.");
    }
    Ok(())
}

async fn start(
    State(runs): State<ServedRuns>,
    Form(fields): Form<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let plan = runs.document(value_of(&fields, "plan"));
        let plan = plan.ok_or_else(|| missing("No such plan lies in this folder."))?;
        expect_idle(&runs).map_err(|why| refusal(StatusCode::CONFLICT, why))?;
        let folder = runs
            .machine()
            .start(&plan, runs.root())
            .map_err(|why| refusal(StatusCode::CONFLICT, why))?;
        runs.look_anew();
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(see_other(&format!("/live/{}", pages::address(&name.unwrap_or_default()))))
    })
    .await?
}
