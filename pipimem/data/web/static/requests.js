// Requests of the page: every change says in If-Match what it is made of.
export const channel = document.body.dataset.channel;

export function address(path, query = {}) {
  const said = new URLSearchParams({ id: channel, ...query });
  return `${path}?${said}`;
}

export async function read(path, query = {}) {
  return parsed(await fetch(address(path, query), { headers: { Accept: "application/json" } }));
}

// The answer of a change: {status, ...what the server says}; status 0 where it cannot be reached.
export async function change(method, path, query, match, body) {
  let answer;
  try {
    answer = await fetch(address(path, query), {
      method,
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        "If-Match": match === "*" ? "*" : `"${match}"`,
      },
      body: JSON.stringify(body),
    });
  } catch {
    return { status: 0 };
  }
  return parsed(answer);
}

async function parsed(answer) {
  const text = await answer.text();
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    value = { problem: text };
  }
  return { status: answer.status, ...value };
}
