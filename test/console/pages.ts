import type { BrowserContext, Page } from 'playwright-core';
import { type ConsoleServer, GOOD, OPERATOR } from './server.ts';

/** What §5 of the contract says of each page: the permission that it needs. */
export const NEEDS: Readonly<Record<string, string | null>> = {
  overview: 'system:read',
  data: null,
  graphql: null,
  users: 'auth:read',
  apps: 'apps:read',
  models: 'models:read',
  logs: 'system:read',
  jobs: 'jobs:read',
  webhooks: 'auth:read',
  schema: 'system:read',
  audit: 'system:read',
  settings: 'system:read',
};

export const MANIFEST = `
name: shop
api: { rest: true, access: public }
auth:
  roles: { list: [Owner, Viewer, Support, Member], first: Owner, default: Member }
console:
  admin_data: always
  roles: { Owner: ["*"], Viewer: ["*:read"], Support: ["auth:read"] }
`;

/** Each way to be there, and the permissions of the contract; null may not enter. */
export const ROLES = {
  operator: ['*'],
  Owner: ['*'],
  Viewer: ['*:read'],
  Support: ['auth:read'],
  Member: null,
  nobody: null,
} as const satisfies Record<string, readonly string[] | null>;

export type Role = keyof typeof ROLES;

const emailOf = (role: Role) => `${role.toLowerCase()}@x.test`;

export const credentialsOf = (role: Role) =>
  role === 'operator' ? { password: OPERATOR } : { email: emailOf(role), password: GOOD };

/** Makes a user of each role. */
export async function addUsers(server: ConsoleServer): Promise<void> {
  const token = 'setup-of-the-console-0123456789abcdef';
  const owner = { token, email: emailOf('Owner'), password: GOOD };
  await server.call('POST', '/api/auth/setup', owner);
  const as = await bearerOf(server, 'Owner');
  const { roles } = (await server.call('GET', '/api/auth/admin/roles', undefined, as)).body;
  for (const role of ['Viewer', 'Support', 'Member'] as const) {
    const user = { email: emailOf(role), password: GOOD };
    const { id } = (await server.call('POST', '/api/auth/register', user)).body;
    const role_id = roles.find(({ name }: { name: string }) => name === role).id;
    await server.call('PUT', `/api/auth/admin/users/${id}/role`, { role_id }, as);
  }
}

/** The headers of a caller by curl. */
export async function bearerOf(
  server: ConsoleServer,
  role: Role,
): Promise<Readonly<Record<string, string>>> {
  if (role === 'nobody') return {};
  const { body } = await server.call('POST', '/api/auth/login', credentialsOf(role));
  return { Authorization: `Bearer ${body.accessToken ?? body.token}` };
}

/** Signs in without the form: the cookie is in the context, and each page goes on with it. */
export async function enter(
  context: BrowserContext,
  server: ConsoleServer,
  role: Role,
): Promise<number> {
  const data = { ...credentialsOf(role), client: 'console', delivery: 'cookie' };
  const response = await context.request.post(`${server.url}/api/auth/login`, { data });
  await context.addInitScript("localStorage.setItem('console-signed-in', 'yes')");
  return response.status();
}

/** Goes to an address of the console as a link does: the document is not loaded again. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate(`new Promise((drawn) => {
    history.pushState(null, '', ${JSON.stringify(address)});
    dispatchEvent(new PopStateEvent('popstate'));
    requestAnimationFrame(() => requestAnimationFrame(drawn));
  })`);
}

/** Waits until a page has its heading and all that it loads at first. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' });
}

/** Notes what a page must not do. */
export async function watch(page: Page, server: ConsoleServer, problems: string[]): Promise<void> {
  const note = (text: string) => void problems.push(text);
  await page.exposeFunction('noteViolation', note);
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      noteViolation('CSP: ' + violatedDirective + ' ' + blockedURI))`,
  );
  page.on('request', (each) => {
    const local = /^(data|blob):/.test(each.url()) || each.url().startsWith(server.url);
    if (!local) note(`foreign: ${each.url()}`);
  });
  page.on('console', (each) => {
    if (each.type() === 'error') note(`${page.url()}: ${each.text()} ${each.location().url}`);
  });
  page.on('pageerror', (error) => note(`${page.url()}: ${error.stack ?? String(error)}`));
  page.on('dialog', (dialog) => (note(`dialog: ${dialog.message()}`), void dialog.dismiss()));
}

/** A page as `GET /api/console` lists it. */
export interface ListedPage {
  readonly id: string;
  readonly path: string;
  readonly title: string;
}

/** Adds those of one row, user or app to the pages that are listed. */
export function withDetails(pages: readonly ListedPage[]): ListedPage[] {
  const details = {
    data: ['/posts', 'Data'],
    users: ['/1', 'owner@x.test'],
    apps: ['/web', 'web'],
  };
  return pages.flatMap((page) => {
    const [more, title = ''] = details[page.id as keyof typeof details] ?? [];
    return more === undefined ? [page] : [page, { ...page, path: page.path + more, title }];
  });
}

/** The pages of the operator, with `details` those of one row, user and app too. */
export async function listedPages(
  server: ConsoleServer,
  { details }: { readonly details: boolean },
): Promise<ListedPage[]> {
  const operator = await bearerOf(server, 'operator');
  const { body } = await server.call('GET', '/api/console', undefined, operator);
  return details ? withDetails(body.pages) : body.pages;
}
