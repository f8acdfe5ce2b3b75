import { AppError } from '@twofold/runtime/errors';
import { logOut } from '../sign-in/ended-access.ts';
import type { LoginObject } from '../sessions/issue-tokens.ts';
import { clearPagesSession, keepPagesSession } from '../sessions/pages-session.ts';
import { html } from '../mails/html.ts';
import { clearRefreshCookie } from '../sessions/refresh-cookie.ts';
import { parseAssertion } from './sign-in-pages.ts';
import { ACTIONS } from './account-actions.ts';
import { sections } from './account-sections.ts';
import { proceed } from './finish.ts';
import { passkeyForm, renderForm } from './form.ts';
import type { FormState, Outcome, Page, PageRequest, Redirect, View } from './page.ts';

type Values = Readonly<Record<string, string>>;

/** `account`: everything of the user's own account, one section each. */
export const accountPage: Page = {
  name: 'account',
  fields: [
    'avatar_url',
    'code',
    'current_password',
    'email',
    'first_name',
    'last_name',
    'locale',
    'name',
    'new_password',
    'password',
    'phone',
    'username',
  ],
  show: async (request, form) => {
    if (!request.signedIn) return { redirect: signInPath(request) };
    if (form.alert === request.t.proof_needed || form.values['do'] === 'proof')
      return proofView(request, form);
    return {
      title: request.t.account_title,
      wide: true,
      script: true,
      body: await sections(request, form),
    };
  },
  submit: async (request, values) => {
    if (!request.signedIn) return { redirect: signInPath(request) };
    const action = values['do'] ?? '';
    if (action === 'sign-out') return signOut(request);
    if (action === 'proof') return prove(request, values);
    if (action === 'passkey-options') return passkeyOptions(request);
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!act) return { redirect: request.path('account') };
    return act(request, values);
  },
};

const signInPath = (request: PageRequest) =>
  request.path('sign-in', { return_to: request.path('account') });

/** Ends the session of the pages. */
async function signOut(request: PageRequest): Promise<Redirect> {
  const { koa, context, auth, cookies } = request;
  await logOut(auth, context);
  clearPagesSession(request.auth, koa);
  clearRefreshCookie(auth, koa);
  cookies.writeNotice(koa, 'signed_out');
  return { redirect: request.path('sign-in') };
}

/** The form with which users prove who they are. The change is sent again after it. */
function proofView(request: PageRequest, form: FormState): View {
  const { t } = request;
  const state = form.values['do'] === 'proof' ? form : { values: { do: 'proof' }, errors: {} };
  return {
    title: t.proof_title,
    script: true,
    body: html`<p>${t.proof_text}</p>${renderForm(request, state, {
      fields: [
        {
          name: 'password',
          label: t.password,
          type: 'password',
          autocomplete: 'current-password',
          focus: true,
        },
      ],
      submit: t.proof_submit,
      action: 'proof',
    })}${
      request.serves('POST /api/auth/reauthenticate/options') &&
      passkeyForm(request, { ceremony: 'get', label: t.use_passkey, action: 'proof' })
    }<p class="links"><a href="${request.path('account')}">${t.back_to_account}</a></p>`,
  };
}

async function prove(request: PageRequest, { password, credential }: Values): Promise<Outcome> {
  const { koa, cookies } = request;
  const body = credential
    ? { credential: parseAssertion(credential) }
    : password
      ? { password }
      : {};
  const answer = await request.call('POST /api/auth/reauthenticate', { body });
  if (answer.status === 202) return proceed(request, answer, { returnTo: null });
  const login = answer.body as Partial<LoginObject>;
  if (login.accessToken) keepPagesSession(request.auth, request.koa, login as LoginObject);
  cookies.writeNotice(koa, 'proof_done');
  return { redirect: request.path('account') };
}

/** Options for the script: to add a passkey, or to prove with one where a proof is needed. */
async function passkeyOptions(request: PageRequest): Promise<Outcome> {
  const { body } = await request.call('POST /api/auth/passkeys/options').catch((error: unknown) => {
    const needed = error instanceof AppError && error.message === 'Reauthentication required';
    if (!needed) throw error;
    return request.call('POST /api/auth/reauthenticate/options');
  });
  return { data: body };
}
