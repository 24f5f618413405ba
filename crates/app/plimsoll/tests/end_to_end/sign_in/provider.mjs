// A certified OpenID provider (oidc-provider), and beside it a stand-in of ours for the two reports
// of Microsoft Graph. Its words are one JSON object: what to be like. It prints its address, and
// writes every secret that it hands out to a file, so that a test can look for them elsewhere.
import { appendFileSync, readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';

const wish = JSON.parse(process.argv[2]);
const { default: Provider } = await import(`${wish.library}/lib/index.js`);

const realNow = Date.now;
Date.now = () => realNow() + (wish.clockAheadSeconds ?? 0) * 1000;

const server = wish.tls
  ? https.createServer({ cert: readFileSync(wish.certificate), key: readFileSync(wish.key) })
  : http.createServer();
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const origin = `${wish.tls ? 'https://localhost' : 'http://127.0.0.1'}:${server.address().port}`;

const certificate = new X509Certificate(readFileSync(wish.certificate));
const device = 'urn:ietf:params:oauth:grant-type:device_code';
const report = `${origin}/Reports.Read.All`;
const standing = `${origin}/.default`;
const common = { scope: `openid offline_access ${report}`, token_endpoint_auth_method: 'none' };
const provider = new Provider(origin, {
  clients: [
    {
      ...common,
      client_id: 'person',
      application_type: 'native',
      redirect_uris: ['http://localhost/'],
      grant_types: ['authorization_code', 'refresh_token', device],
      response_types: ['code'],
    },
    {
      client_id: 'robot',
      scope: standing,
      redirect_uris: [],
      response_types: [],
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [certificate.publicKey.export({ format: 'jwk' })] },
    },
  ],
  scopes: ['openid', 'offline_access', report, standing],
  features: {
    devInteractions: { enabled: true },
    deviceFlow: { enabled: true },
    clientCredentials: { enabled: true },
  },
  pkce: { required: () => true },
  clockTolerance: 5,
  rotateRefreshToken: true,
  issueRefreshToken: async (ctx, client) => client.grantTypeAllowed('refresh_token'),
  ttl: {
    AccessToken: wish.accessSeconds ?? 3600,
    ClientCredentials: wish.accessSeconds ?? 3600,
    DeviceCode: wish.deviceSeconds ?? 600,
    RefreshToken: 3600,
    Grant: 3600,
    Interaction: 600,
    Session: 3600,
    IdToken: 3600,
    AuthorizationCode: 60,
  },
});

const note = (...secrets) => {
  for (const secret of secrets.filter(Boolean)) appendFileSync(wish.secrets, `${secret}\n`);
};
const count = (word) => appendFileSync(wish.events, `${word}\n`);

provider.use(async (ctx, next) => {
  await next();
  ctx.set('Date', new Date(Date.now()).toUTCString());
  const { access_token: access, refresh_token: refresh, device_code: code } = ctx.body ?? {};
  note(access, refresh, code);
  const params = ctx.oidc?.params ?? {};
  note(params.code_verifier, params.client_assertion, params.code);
  if (ctx.oidc?.route === 'token') count(`${params.grant_type} ${ctx.body?.error ?? 'ok'}`);
});

const users = 'Report Refresh Date,User Principal Name,Is Deleted';
const sheets = {
  getMailboxUsageDetail: `${users},Item Count,Storage Used (Byte),`
    + 'Prohibit Send/Receive Quota (Byte),Report Period\n'
    + '2026-11-20,a,False,10,1073741824,5368709120,30\n'
    + '2026-11-20,b,False,10,3221225472,5368709120,30\n',
  getEmailActivityUserDetail: `${users},Send Count,Receive Count,Report Period\n`
    + '2026-11-20,a,False,300,900,30\n2026-11-20,b,False,300,900,30\n',
};

const known = async (request) => {
  const [, token] = (request.headers.authorization ?? '').split('Bearer ');
  if (!token) return false;
  return await provider.AccessToken.find(token) ?? await provider.ClientCredentials.find(token);
};

let throttled = wish.throttle ?? 0;
let revoked = wish.revoke ?? 0;
async function graph(request, response) {
  const [, name] = decodeURIComponent(request.url).match(/^\/v1.0\/reports\/(\w+)\(period='D30'\)$/)
    ?? [];
  if (!sheets[name]) return response.writeHead(404).end();
  count(`report ${name}`);
  const token = await known(request);
  if (!token || revoked-- > 0) return response.writeHead(401).end();
  if (wish.forbidden) return response.writeHead(403).end();
  if (throttled-- > 0) return response.writeHead(429, { 'retry-after': '1' }).end();
  await new Promise((done) => setTimeout(done, wish.graphMilliseconds ?? 0));
  const key = `download-key-${realNow()}-${Math.random()}`;
  note(key);
  return response.writeHead(302, { location: `${origin}/download/${name}?sig=${key}` }).end();
}

function download(request, response) {
  // The place of the download is none of Microsoft Graph: a token must not come here.
  if (request.headers.authorization) return response.writeHead(400).end();
  const [, name] = request.url.match(/^\/download\/(\w+)\?sig=download-key/) ?? [];
  if (!sheets[name]) return response.writeHead(403).end();
  return response.end(sheets[name]);
}

const callback = provider.callback();
server.on('request', (request, response) => {
  if (request.url.startsWith('/v1.0/')) return graph(request, response);
  if (request.url.startsWith('/download/')) return download(request, response);
  return callback(request, response);
});
console.log(origin);
// The one who started this has gone when the input ends.
process.stdin.on('end', () => process.exit()).resume();
