import { clearPagesSession } from '../sessions/pages-session.ts';
import { html } from '../mails/html.ts';
import type { FormState, Outcome, PageRequest } from './page.ts';
import { capital, parseAssertion } from './sign-in-pages.ts';
import { codesView, totpForm, type TotpStart } from './step-pages.ts';
import type { TextKey } from './texts.ts';

type Values = Readonly<Record<string, string>>;

const NOTHING: FormState = { values: {}, errors: {} };

type Action = (request: PageRequest, values: Values) => Promise<Outcome>;

/** Calls an endpoint, and shows the account again with a notice. */
function plain(
  endpoint: string,
  notice: TextKey,
  input: (values: Values) => {
    readonly params?: Record<string, string>;
    readonly body?: Record<string, unknown>;
  },
): Action {
  return async (request, values) => {
    await request.call(endpoint, input(values));
    request.cookies.writeNotice(request.koa, notice);
    return { redirect: request.path('account') };
  };
}

const byId = ({ id = '' }: Values) => ({ params: { id } });
const nameById = ({ id = '', name = '' }: Values) => ({ params: { id }, body: { name } });

/** The actions of the account's forms, by the value of the hidden field `do`. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  profile: plain('PATCH /api/auth/me', 'account_saved', (values) => ({
    body: Object.fromEntries(Object.entries(values).filter(([name]) => name !== 'do')),
  })),
  email: plain('POST /api/auth/change-email', 'account_mail_sent', ({ email = '' }) => ({
    body: { email },
  })),
  password: async (request, values) => {
    const { current_password = '', new_password = '' } = values;
    const keep = ['api_keys', 'identities'].filter((each) => values[`keep_${each}`] === 'yes');
    const body = { current_password, new_password, ...(keep.length > 0 && { keep }) };
    await request.call('POST /api/auth/change-password', { body });
    request.cookies.writeNotice(request.koa, 'account_password_done');
    return { redirect: request.path('account') };
  },
  totp: async (request) => {
    const { body } = await request.call('POST /api/auth/totp');
    const { t } = request;
    return {
      title: t.account_factor,
      body: html`${totpForm(request, NOTHING, body as TotpStart)}`,
    };
  },
  'totp-confirm': async (request, { code = '' }) => {
    const answer = await request.call('POST /api/auth/totp/confirm', {
      body: { code: code.replaceAll(/\s/g, '') },
    });
    return showCodes(request, answer.body);
  },
  'totp-off': plain('DELETE /api/auth/totp', 'account_saved', () => ({})),
  'recovery-codes': async (request) =>
    showCodes(request, (await request.call('POST /api/auth/recovery-codes')).body),
  'passkey-add': plain('POST /api/auth/passkeys', 'account_saved', ({ credential = '' }) => ({
    body: { credential: parseAssertion(credential) },
  })),
  'passkey-rename': plain('PATCH /api/auth/passkeys/:id', 'account_saved', nameById),
  'passkey-remove': plain('DELETE /api/auth/passkeys/:id', 'account_removed', byId),
  'session-rename': plain('PATCH /api/auth/sessions/:id', 'account_saved', nameById),
  'session-end': plain('DELETE /api/auth/sessions/:id', 'account_removed', byId),
  'sessions-end': plain('POST /api/auth/logout-all', 'account_removed', () => ({
    body: { keep_current: true },
  })),
  'device-rename': plain('PATCH /api/auth/devices/:id', 'account_saved', nameById),
  'device-forget': plain('DELETE /api/auth/devices/:id', 'account_removed', byId),
  'key-add': async (request, { name = '', scopes = '' }) => {
    const body = { name, scopes: scopes.split(/[\s,]+/).filter(Boolean) };
    const answer = await request.call('POST /api/auth/api-keys', { body });
    const { t } = request;
    return {
      title: t.account_keys,
      body: html`<p>${t.account_key_made}</p><p><code>${String((answer.body as { key: string }).key)}</code></p><p class="links"><a href="${request.path('account')}">${t.back_to_account}</a></p>`,
    };
  },
  'key-rename': plain('PATCH /api/auth/api-keys/:id', 'account_saved', nameById),
  'key-revoke': plain('DELETE /api/auth/api-keys/:id', 'account_removed', byId),
  link: async (request, { provider = '' }) => {
    const { body } = await request.call('POST /api/auth/link', { body: { provider } });
    const { url } = body as { url: string };
    const address = `${url}&return_to=${encodeURIComponent(request.path('account'))}`;
    const { t } = request;
    // This is a link, because the `form-action` policy forbids a form to end at the provider.
    return {
      title: t.account_link.replace('{provider}', () => capital(provider)),
      body: html`<ul class="ways"><li><a class="second" href="${address}">${t.continue}</a></li></ul><p class="links"><a href="${request.path('account')}">${t.back_to_account}</a></p>`,
    };
  },
  unlink: plain('DELETE /api/auth/identities/:provider', 'account_removed', ({ id = '' }) => ({
    params: { provider: id },
  })),
  export: async (request) => ({ download: await request.call('GET /api/auth/me/export') }),
  delete: async (request, { sure }) => {
    if (sure !== 'yes') return { redirect: `${request.path('account')}#delete` };
    await request.call('DELETE /api/auth/me');
    clearPagesSession(request.auth, request.koa);
    request.cookies.writeNotice(request.koa, 'account_deletion_done');
    return { redirect: request.path('sign-in') };
  },
};

function showCodes(request: PageRequest, body: unknown): Outcome {
  const { recovery_codes } = body as { recovery_codes: readonly string[] };
  return codesView(request, recovery_codes, request.path('account'));
}
