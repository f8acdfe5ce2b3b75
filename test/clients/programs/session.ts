import assert from 'node:assert/strict';

/** Where the server of the test listens. */
export const url = process.env['SERVER_URL'] as string;

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Signs somebody up and in. */
export async function signIn(): Promise<string> {
  const email = `${crypto.randomUUID()}@example.test`;
  const password = 'correct horse battery staple';
  assert.equal(
    (
      await post('/api/auth/register', {
        email,
        password,
        first_name: 'Ada',
        last_name: 'Lovelace',
      })
    ).status,
    201,
  );
  const { accessToken } = (await (await post('/api/auth/login', { email, password })).json()) as {
    accessToken: string;
  };
  return accessToken;
}

/** A write beside the client that is looked at. */
export async function write(query: string, token?: string): Promise<any> {
  const response = await post(
    '/graphql',
    { query },
    token === undefined ? {} : { authorization: `Bearer ${token}` },
  );
  return (await response.json()) as any;
}

export const createPost = (title: string, author = 'Author:1') =>
  write(
    `mutation { createPost(input: { title: "${title}", mood: CALM, authorId: "${author}" }) { post { id } } }`,
  );

/** Asks until it is so; the test's own time limit ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** How many calls of `slow` the server still works on. */
export async function running(): Promise<number> {
  return ((await (await fetch(`${url}/running`)).json()) as { running: number }).running;
}
