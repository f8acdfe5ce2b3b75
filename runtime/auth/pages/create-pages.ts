import type { Context as KoaContext, Middleware } from 'koa';
import { isAnyPort, isAppAddress } from '@twofold/schema';
import type { RequestContext, ServerModule } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { readBody } from '@twofold/runtime/http';
import { readUser } from '../requests/authenticate.ts';
import type { FlowCalls } from '../requests/flow-calls.ts';
import { readPagesSession } from '../sessions/pages-session.ts';
import { html } from '../mails/html.ts';
import { acceptedLanguages, matchLanguage } from '../mails/language.ts';
import { pagesPath, pagesUrl } from '../mails/links.ts';
import { FROM_AUTH_PAGE } from '../sign-in/login.ts';
import type { AuthState } from '../state.ts';
import { accountPage } from './account-page.ts';
import { type Asset, createPageAssets, type PageAssets } from './assets.ts';
import { consentPage } from './consent-page.ts';
import { assertOwnForm, createPageCookies, FORM_TOKEN, type PageCookies } from './cookies.ts';
import { renderFrame } from './frame.ts';
import {
  changeEmailPage,
  forgotPage,
  resetPage,
  restorePage,
  unlockPage,
  verifyPage,
} from './link-pages.ts';
import type { FormState, Outcome, Page, PageRequest, View } from './page.ts';
import { callbackErrors, isProblem, problemOf } from './problems.ts';
import { registerPage, setupPage, signInPage } from './sign-in-pages.ts';
import { emailSignInPage, invitationPage, missing, secondFactorPage } from './step-pages.ts';
import { allTexts } from './languages.ts';
import type { OwnTexts, TextKey } from './texts.ts';

const PAGES: ReadonlyMap<string, Page> = new Map(
  [
    accountPage,
    changeEmailPage,
    consentPage,
    emailSignInPage,
    forgotPage,
    invitationPage,
    registerPage,
    resetPage,
    restorePage,
    secondFactorPage,
    setupPage,
    signInPage,
    unlockPage,
    verifyPage,
  ].map((page) => [page.name, page]),
);

/**
 * Chromium applies `form-action` to the redirect after a form too, so the addresses at which a
 * sign-in may end are listed.
 */
function policyOf(auth: AuthState): string {
  const ends = [...auth.model.oauth.returnTo, auth.config.oauthSuccessRedirect ?? '']
    .filter((address) => URL.canParse(address))
    .map((address) => ` ${sourceOf(address)}`);
  return `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'${ends.join('')}; frame-ancestors 'none'`;
}

/** An address as a source of the policy: an origin, any port of it, or a scheme. */
function sourceOf(address: string): string {
  if (isAnyPort(address)) return `${address} ${address}:*`;
  const { origin, protocol } = new URL(address);
  return isAppAddress(address) ? protocol : origin;
}

const BODY_LIMIT = 64 * 1024;
const EMPTY: FormState = { values: {}, errors: {} };

/** The parts that all requests to the pages share. */
interface Site {
  readonly auth: AuthState;
  readonly base: string;
  readonly policy: string;
  readonly cookies: PageCookies;
  readonly calls: FlowCalls;
  readonly texts: OwnTexts;
  readonly languages: readonly string[];
  readonly assets: () => Promise<PageAssets>;
}

/**
 * The pages: forms for everything that the endpoints do for a user. They call the endpoints'
 * handlers, so they have no rules of their own.
 */
export function createPages(
  auth: AuthState,
  calls: FlowCalls,
  texts: OwnTexts = {},
): Pick<ServerModule, 'endpoint' | 'errorForm'> {
  const { pages } = auth.model;
  if (pages === false || !auth.config.users) return {};
  const base = pagesPath(pages);
  let assets: Promise<PageAssets> | undefined;
  const site: Site = {
    auth,
    base,
    policy: policyOf(auth),
    cookies: createPageCookies(auth),
    calls,
    texts,
    languages: pages.languages,
    // Read on first use, because many servers never show a page.
    assets: () => (assets ??= createPageAssets(pages.theme, auth.root)),
  };
  const endpoint: Middleware = async (koa, next) => {
    if (koa.path.startsWith('/.well-known/') && wellKnown(site, koa)) return;
    if (koa.path !== base && !koa.path.startsWith(`${base}/`)) return next();
    koa.state['route'] = `${base}/*`;
    await serve(site, koa);
  };
  return { endpoint, errorForm: callbackErrors(base, site.cookies) };
}

/** https://w3c.github.io/webappsec-change-password-url/ and the passkey endpoints of WebAuthn. */
function wellKnown({ auth }: Site, koa: KoaContext): boolean {
  if (koa.method !== 'GET' && koa.method !== 'HEAD') return false;
  const account = `${pagesUrl(auth)}/account`;
  if (koa.path === '/.well-known/change-password') {
    koa.status = 303;
    koa.set('Location', `${account}#password`);
    koa.body = '';
    return true;
  }
  if (koa.path !== '/.well-known/passkey-endpoints' || auth.model.passkeys === false) return false;
  koa.body = { enroll: `${account}#passkeys`, manage: `${account}#passkeys` };
  return true;
}

async function serve(site: Site, koa: KoaContext): Promise<void> {
  koa.set({
    'Content-Security-Policy': site.policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
  });
  if (site.auth.config.secureCookies)
    koa.set('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
  const name = koa.path.slice(site.base.length + 1);
  const assets = await site.assets();
  const file = name.startsWith('assets/') ? assets.files.get(name.slice(7)) : undefined;
  if (file) return sendAsset(koa, file);
  const request = await openRequest(site, koa);
  if (name === '') return redirect(koa, request.path(request.signedIn ? 'account' : 'sign-in'));
  const page = PAGES.get(name);
  const form = { ...EMPTY };
  if (!page) return show(site, request, missing(request), form);
  if (koa.method === 'POST') return submit(site, request, page);
  if (koa.method !== 'GET' && koa.method !== 'HEAD')
    throw new AppError(405, 'METHOD_NOT_ALLOWED', 'Method not allowed', {
      headers: { Allow: 'GET, HEAD, POST' },
    });
  try {
    await answer(site, request, await page.show(request, form), form);
  } catch (error) {
    await refuse(site, request, error);
  }
}

function sendAsset(koa: KoaContext, { type, content, tag }: Asset): void {
  koa.set({ 'Cache-Control': 'no-cache', ETag: tag });
  koa.status = 200;
  if (koa.fresh) return void (koa.status = 304);
  koa.set('Content-Type', type.startsWith('image/') ? type : `${type}; charset=utf-8`);
  koa.body = content;
}

/** The caller of a page is the owner of the pages' cookie, whatever else the request presents. */
async function openRequest(site: Site, koa: KoaContext): Promise<PageRequest> {
  const { auth, cookies, base } = site;
  const context = koa.state['context'] as RequestContext;
  context.principal = { kind: 'anonymous' };
  context.values.set(FROM_AUTH_PAGE, true);
  const token = readPagesSession(auth, koa);
  const signedIn =
    token !== undefined && (await readUser(auth, token, context, { tokens: auth.tokens.pages }));
  const locale = await localeOf(site, koa, context);
  return {
    koa,
    context,
    auth,
    cookies,
    locale,
    signedIn,
    t: allTexts(locale, site.texts),
    step: cookies.readStep(koa),
    query: Object.fromEntries(textsIn(koa.query)),
    path: (page, query = {}) => {
      const search = new URLSearchParams(textsIn(query)).toString();
      return `${base}/${page}${search && `?${search}`}`;
    },
    serves: (endpoint) => site.calls.has(endpoint),
    call: (endpoint, input) => site.calls.call(endpoint, { koa, context }, input),
  };
}

/** Without a parameter that is absent, or occurs twice. */
const textsIn = (query: object): [string, string][] =>
  Object.entries(query).filter((entry) => typeof entry[1] === 'string');

async function localeOf(
  { auth, languages, texts }: Site,
  koa: KoaContext,
  { principal }: RequestContext,
): Promise<string> {
  const account =
    principal.kind === 'user' ? await auth.directory.find(auth.db, principal.id) : null;
  const known = [...new Set([...languages, ...Object.keys(texts), 'en', 'de', 'fr', 'es'])];
  return (
    matchLanguage(account?.locale ? [account.locale] : [], known) ??
    matchLanguage(acceptedLanguages(koa.get('Accept-Language')), languages) ??
    languages[0] ??
    'en'
  );
}

async function submit(site: Site, request: PageRequest, page: Page): Promise<void> {
  const { koa, t, cookies } = request;
  let values: FormState['values'] = {};
  try {
    const { [FORM_TOKEN]: token = '', ...sent } = await readForm(koa);
    values = sent;
    assertOwnForm(koa, cookies, { origins: originsOf(site), token });
    if (!page.submit) throw new AppError(405, 'METHOD_NOT_ALLOWED', 'Method not allowed');
    await answer(site, request, await page.submit(request, values), EMPTY);
  } catch (error) {
    if (!isProblem(error)) throw error;
    koa.set({ ...error.headers });
    const form = problemOf(error, t, page.fields ?? [], values);
    const again = await page.show(request, form);
    if ('redirect' in again) return redirect(koa, again.redirect);
    await show(site, request, { ...again, status: error.status }, form);
  }
}

function originsOf({ auth }: Site): string[] {
  return [new URL(pagesUrl(auth)).origin, new URL(auth.config.appUrl).origin];
}

/** A GET whose address is wrong, such as a `return_to` that is not allowed. */
async function refuse(site: Site, request: PageRequest, error: unknown): Promise<void> {
  if (!isProblem(error)) throw error;
  const form = problemOf(error, request.t, [], {});
  const view = { title: request.t.sign_in, body: html``, status: error.status };
  await show(site, request, view, form);
}

/** @throws AppError 415, 413 */
async function readForm(koa: KoaContext): Promise<Record<string, string>> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(koa.get('Content-Type')))
    throw failure.unsupportedMediaType();
  return Object.fromEntries(new URLSearchParams(await readBody(koa.req, BODY_LIMIT)));
}

async function answer(
  site: Site,
  request: PageRequest,
  outcome: Outcome,
  form: FormState,
): Promise<void> {
  const { koa } = request;
  if ('redirect' in outcome) return redirect(koa, outcome.redirect);
  if ('data' in outcome) return void (koa.body = outcome.data);
  if ('download' in outcome) {
    const { body, headers = {} } = outcome.download;
    for (const [name, value] of Object.entries(headers)) koa.set(name, value as string);
    return void (koa.body = body);
  }
  await show(site, request, outcome, form);
}

/** 303: the browser opens the address with GET, so that reloading sends no form twice. */
function redirect(koa: KoaContext, location: string): void {
  koa.status = 303;
  koa.set('Location', location);
  koa.body = '';
}

async function show(site: Site, request: PageRequest, view: View, form: FormState): Promise<void> {
  const { koa, t, cookies } = request;
  const { script, logo, files } = await site.assets();
  const key = form === EMPTY || !form.alert ? cookies.takeNotice(koa) : null;
  const notice = key !== null && Object.hasOwn(t, key) ? t[key as TextKey] : null;
  const at = (name: string) => `${site.base}/assets/${name}`;
  const document = renderFrame(request, {
    view,
    form,
    notice,
    assets: {
      style: at('pages.css'),
      script: at(script),
      logo: logo !== null && files.has(logo) ? at(logo) : null,
    },
  });
  koa.status = view.status ?? 200;
  koa.set('Content-Type', 'text/html; charset=utf-8');
  koa.body = String(document);
}
