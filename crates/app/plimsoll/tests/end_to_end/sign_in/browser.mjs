// A browser and the person before it: follows redirects with cookies, fills in every form that a
// page shows, and says yes or no. Words: address, yes|no, and a code to type where one is asked for.
const [, , address, answer, userCode] = process.argv;
const cookies = new Map();

async function visit(url, options = {}) {
  const jar = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { ...options.headers, cookie: jar };
  const response = await fetch(url, { ...options, headers, redirect: 'manual' });
  for (const line of response.headers.getSetCookie()) {
    const [pair] = line.split(';');
    const at = pair.indexOf('=');
    if (pair.length > at + 1) cookies.set(pair.slice(0, at), pair.slice(at + 1));
    else cookies.delete(pair.slice(0, at));
  }
  const next = response.headers.get('location');
  if (!next) return { url, page: await response.text(), status: response.status };
  return visit(new URL(next, url));
}

function fill(page, url) {
  const form = page.match(/<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/);
  if (!form) return null;
  const fields = new URLSearchParams();
  for (const [input] of form[2].matchAll(/<input[^>]*>/g)) {
    const part = (name) => input.match(new RegExp(`${name}="([^"]*)"`))?.[1];
    const typed = { login: 'someone', password: 'word', user_code: userCode };
    const value = typed[part('name')] ?? part('value');
    if (part('name') && value !== undefined) fields.set(part('name'), value);
  }
  if (answer === 'no' && page.includes('name="abort"')) fields.set('abort', 'yes');
  return { action: new URL(form[1], url), fields };
}

let { url, page, status } = await visit(address);
for (let step = 0; step < 8; step += 1) {
  const abort = page.match(/href="([^"]+\/abort)"/);
  const form = fill(page, url);
  if (answer === 'no' && abort) ({ url, page, status } = await visit(new URL(abort[1], url)));
  else if (!form) break;
  else {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const options = { method: 'POST', body: form.fields, headers };
    ({ url, page, status } = await visit(form.action, options));
  }
}
console.log(status, page.replace(/<[^>]*>|\s+/g, ' '));
