//! Uses a sign-in to fetch the reports: obtains tokens, renews them if they expire meanwhile, and
//! discards them.

use std::time::Duration;

use crate::address::Address;
use crate::browser::{self, BrowserQuestion};
use crate::device::DeviceCode;
use crate::endpoints::Endpoints;
use crate::error::SignInError;
use crate::grant::{self, Grant, OAuthRefusal, TokenAnswer};
use crate::pkce;
use crate::poll::{PollOutcome, PollStep};
use crate::reports::{self, UsageReport, UsageReports};
use crate::tokens::Tokens;
use crate::web::{Reply, Web};
use crate::{Credential, SignIn, Surroundings, Way};

/// Permissions requested from the user; `offline_access` adds a refresh token.
const PERMISSIONS: [&str; 2] = ["Reports.Read.All", "offline_access"];
/// Clock errors above this are reported.
const SMALL_SKEW_SECONDS: u64 = 60;

/// Signs in and fetches both reports. All tokens are wiped when it returns.
pub fn fetch(sign_in: &SignIn, world: &mut dyn Surroundings) -> Result<UsageReports, SignInError> {
    Address::parse("graph", &sign_in.graph)?;
    let web = Web::new();
    let endpoints = Endpoints::discover(&web, &sign_in.authority, world.unix_seconds())?;
    let skew = endpoints.skew_seconds;
    if skew.unsigned_abs() > SMALL_SKEW_SECONDS {
        world.tell(&format!(
            "The clock of this machine is {} s {} the provider's; the provider's is followed.",
            skew.unsigned_abs(),
            if skew > 0 { "behind" } else { "ahead of" },
        ));
    }
    let session = SignInSession { sign_in, web, endpoints };
    session.reports(world)
}

struct SignInSession<'a> {
    sign_in: &'a SignIn,
    web: Web,
    endpoints: Endpoints,
}

impl SignInSession<'_> {
    fn reports(&self, world: &mut dyn Surroundings) -> Result<UsageReports, SignInError> {
        let mut tokens = self.enter(world)?;
        let mailbox_usage = self.report(UsageReport::MailboxUsage, &mut tokens, world)?;
        let email_activity = self.report(UsageReport::EmailActivity, &mut tokens, world)?;
        Ok(UsageReports { mailbox_usage, email_activity })
    }

    fn enter(&self, world: &mut dyn Surroundings) -> Result<Tokens, SignInError> {
        match &self.sign_in.way {
            Way::Browser => self.by_browser(world),
            Way::Device => self.by_device(world),
            Way::Certificate(credential) => self.by_certificate(credential, world),
        }
    }

    fn scope(&self) -> String {
        let [read, offline] = PERMISSIONS;
        format!("{}/{read} {offline}", self.sign_in.graph.trim_end_matches('/'))
    }

    fn by_browser(&self, world: &mut dyn Surroundings) -> Result<Tokens, SignInError> {
        let endpoint = self.endpoints.authorization.as_ref();
        let question = BrowserQuestion {
            authorization: endpoint.ok_or(SignInError::NotOffered("sign-in in a browser"))?,
            issuer: &self.endpoints.issuer,
            client: &self.sign_in.client,
            scope: &self.scope(),
        };
        let found = browser::ask(&question, world)?;
        self.granted(
            "the code of the sign-in",
            &[
                ("grant_type", "authorization_code"),
                ("client_id", &self.sign_in.client),
                ("code", found.code.reveal()),
                ("redirect_uri", &found.redirect),
                ("code_verifier", found.verifier.0.reveal()),
            ],
            world,
        )
    }

    fn by_device(&self, world: &mut dyn Surroundings) -> Result<Tokens, SignInError> {
        let endpoint = self.endpoints.device.as_ref();
        let endpoint = endpoint.ok_or(SignInError::NotOffered("device code"))?;
        let client = ("client_id", self.sign_in.client.as_str());
        let reply = self.web.post(endpoint, &[client, ("scope", &self.scope())])?;
        let mut code = DeviceCode::read(endpoint, &reply, world.elapsed())?;
        code.tell(world);
        let mut pause = code.poll.interval();
        loop {
            world.wait(pause);
            let asked = world.elapsed();
            let pairs = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                client,
                ("device_code", code.secret.reveal()),
            ];
            let outcome = outcome(self.web.post(&self.endpoints.token, &pairs));
            match code.poll.after(world.elapsed(), outcome) {
                PollStep::Wait(next) => pause = next,
                PollStep::Done(grant) => return Ok(Tokens::new(grant, asked)),
                PollStep::Refused(refusal) => {
                    let what = "the sign-in";
                    return Err(SignInError::Refused { what, refusal });
                }
                PollStep::Unclear(problem) => return Err(self.unclear("the sign-in", problem)),
                PollStep::TooLate => return Err(SignInError::TooLate),
            }
        }
    }

    fn by_certificate(
        &self,
        credential: &Credential,
        world: &mut dyn Surroundings,
    ) -> Result<Tokens, SignInError> {
        let now = world.unix_seconds() + self.endpoints.skew_seconds;
        let audience = self.endpoints.token.uri().to_string();
        let client = &self.sign_in.client;
        let assertion = credential.assertion(client, &audience, &pkce::nonce()?, now)?;
        let scope = format!("{}/.default", self.sign_in.graph.trim_end_matches('/'));
        self.granted(
            "the certificate",
            &[
                ("grant_type", "client_credentials"),
                ("client_id", client),
                ("scope", &scope),
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", assertion.reveal()),
            ],
            world,
        )
    }

    /// Sends a request that the token endpoint answers at once, without polling.
    fn granted(
        &self,
        what: &'static str,
        pairs: &[(&str, &str)],
        world: &mut dyn Surroundings,
    ) -> Result<Tokens, SignInError> {
        let asked = world.elapsed();
        let grant = self.grant(what, pairs)?;
        Ok(Tokens::new(grant, asked))
    }

    fn grant(&self, what: &'static str, pairs: &[(&str, &str)]) -> Result<Grant, SignInError> {
        let reply = self.web.post(&self.endpoints.token, pairs)?;
        match grant::read(reply.is_success(), &reply.body) {
            TokenAnswer::Granted(grant) => Ok(grant),
            TokenAnswer::Refused(refusal) => Err(SignInError::Refused { what, refusal }),
            TokenAnswer::Unclear(problem) => Err(self.unclear(what, problem)),
        }
    }

    fn unclear(&self, what: &'static str, problem: &str) -> SignInError {
        SignInError::Answer {
            place: self.endpoints.token.origin(),
            what,
            problem: problem.to_owned(),
        }
    }

    /// Exchanges old tokens for new ones: with the certificate's key if there is one, otherwise
    /// with the refresh token.
    fn renew(&self, tokens: &mut Tokens, world: &mut dyn Surroundings) -> Result<(), SignInError> {
        if let Way::Certificate(credential) = &self.sign_in.way {
            *tokens = self.by_certificate(credential, world)?;
            return Ok(());
        }
        let refresh = tokens.refresh.as_ref().ok_or(SignInError::Ended)?;
        let pairs = [
            ("grant_type", "refresh_token"),
            ("client_id", self.sign_in.client.as_str()),
            ("refresh_token", refresh.reveal()),
        ];
        let asked = world.elapsed();
        let grant = self.grant("the renewal of the access", &pairs)?;
        tokens.renew(grant, asked);
        Ok(())
    }

    fn report(
        &self,
        report: UsageReport,
        tokens: &mut Tokens,
        world: &mut dyn Surroundings,
    ) -> Result<Vec<u8>, SignInError> {
        let address = report.address(&self.sign_in.graph, self.sign_in.days);
        let address = Address::parse("graph", &address)?;
        let (mut retries, mut is_renewed) = (0, false);
        loop {
            if !tokens.is_good(world.elapsed()) {
                self.renew(tokens, world)?;
            }
            let reply = self.web.get(&address, Some(&tokens.access))?;
            match reply.status {
                200 => return Ok(reply.body.to_vec()),
                302 | 307 => return self.download(report, &address, &reply),
                // A wrong clock or a policy ended the token early.
                401 if !is_renewed => {
                    is_renewed = true;
                    self.renew(tokens, world)?;
                }
                _ if reply.is_passing() => {
                    world.wait(again(report, &reply, retries)?);
                    retries += 1;
                }
                status => {
                    let report = report.name();
                    return Err(SignInError::Forbidden { report, status });
                }
            }
        }
    }

    /// Downloads a report from the address given by Microsoft Graph. That address is itself a key,
    /// and the token must not go there.
    fn download(
        &self,
        report: UsageReport,
        graph: &Address,
        reply: &Reply,
    ) -> Result<Vec<u8>, SignInError> {
        let wrong = |problem: String| SignInError::Answer {
            place: graph.origin(),
            what: report.name(),
            problem,
        };
        let location = reply.location.as_ref();
        let location = location.ok_or_else(|| wrong("a redirect to nowhere".to_owned()))?;
        let place = Address::parse("download", location.reveal())?;
        if graph.is_encrypted() && !place.is_encrypted() {
            return Err(wrong("a redirect to a place without encryption".to_owned()));
        }
        let reply = self.web.get(&place, None)?;
        if reply.status != 200 {
            return Err(wrong(format!("HTTP {} at the download", reply.status)));
        }
        Ok(reply.body.to_vec())
    }
}

fn again(report: UsageReport, reply: &Reply, retries: u32) -> Result<Duration, SignInError> {
    reports::pause(retries, reply.retry_after)
        .ok_or(SignInError::Busy { report: report.name(), status: reply.status })
}

/// Outcome of a poll; only a definite answer of the provider ends the wait.
fn outcome(reply: Result<Reply, SignInError>) -> PollOutcome {
    match reply {
        Ok(reply) if reply.status == 429 => {
            PollOutcome::Answered(TokenAnswer::Refused(OAuthRefusal::new("slow_down", "")))
        }
        Ok(reply) if !reply.is_passing() => {
            PollOutcome::Answered(grant::read(reply.is_success(), &reply.body))
        }
        _ => PollOutcome::Failed,
    }
}
