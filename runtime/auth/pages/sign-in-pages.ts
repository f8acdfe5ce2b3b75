import type { LoginObject } from '../sessions/issue-tokens.ts';
import { html, type HtmlValue } from '../mails/html.ts';
import { configuredProviders } from '../oauth/providers.ts';
import { finish, proceed, targetOf, targetQuery } from './finish.ts';
import { type Field, newPasswordField, passkeyForm, renderForm } from './form.ts';
import type { FormState, Page, PageRequest, View } from './page.ts';

/** `sign-in`: password, passkey, provider, or mail. */
export const signInPage: Page = {
  name: 'sign-in',
  fields: ['email', 'password'],
  show: (request, form) => {
    targetOf(request);
    const { t, query } = request;
    if (query['code']) return providerView(request, form, query['code']);
    const passkeys = request.serves('POST /api/auth/passkeys/login');
    return {
      title: t.sign_in,
      script: passkeys,
      body: html`${passkeys && passkeyLogin(request)}${renderForm(request, form, {
        fields: [
          {
            name: 'email',
            label: t.email,
            type: 'email',
            autocomplete: passkeys ? 'username webauthn' : 'username',
          },
          {
            name: 'password',
            label: t.password,
            type: 'password',
            autocomplete: 'current-password',
          },
        ],
        submit: t.sign_in,
      })}${otherWays(request)}${links(request)}`,
    };
  },
  submit: async (request, { email = '', password = '', code, credential, do: action }) => {
    const target = targetOf(request);
    if (action === 'passkey-options')
      return { data: (await request.call('POST /api/auth/passkeys/login/options')).body };
    if (code)
      return proceed(
        request,
        await request.call('POST /api/oauth/exchange', { body: { code } }),
        target,
      );
    if (credential) {
      const body = { credential: parseAssertion(credential) };
      return proceed(
        request,
        await request.call('POST /api/auth/passkeys/login', { body }),
        target,
      );
    }
    return proceed(
      request,
      await request.call('POST /api/auth/login', { body: { email, password } }),
      target,
    );
  },
};

/** A passkey's answer, as the script of the page sends it. */
export function parseAssertion(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}

/** The script shows the button, and offers passkeys in the menu of the field. */
function passkeyLogin(request: PageRequest): HtmlValue {
  const { t } = request;
  return html`${passkeyForm(request, { ceremony: 'get', label: t.sign_in_passkey, conditional: true })}`;
}

/**
 * After a provider: the code of the address is redeemed by a form, because a GET changes nothing.
 */
function providerView(request: PageRequest, form: FormState, code: string): View {
  const { t } = request;
  return {
    title: t.sign_in,
    body: renderForm(request, form, { fields: [], submit: t.continue, hiddenFields: { code } }),
  };
}

function otherWays(request: PageRequest): HtmlValue {
  const { t, auth } = request;
  const back = request.path('sign-in', targetQuery(request));
  const ids = new Set(auth.config.providers.map(({ name }) => name));
  const providers = configuredProviders(auth.model.oauth.providers).filter(({ name }) =>
    ids.has(name),
  );
  const byMail = request.serves('POST /api/auth/email-sign-in');
  if (providers.length === 0 && !byMail) return null;
  return html`<p class="or"><span>${t.or}</span></p>
<ul class="ways">${byMail && html`<li><a class="second" href="${request.path('email-sign-in', targetQuery(request))}">${t.sign_in_by_mail}</a></li>`}${providers.map(
    ({ name }) =>
      html`<li><a class="second" href="/api/oauth/${name}?return_to=${encodeURIComponent(back)}">${t.sign_in_with.replace('{provider}', capital(name))}</a></li>`,
  )}</ul>
`;
}

export const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

function links(request: PageRequest): HtmlValue {
  const { t } = request;
  return html`<nav class="links" aria-label="${t.or}">
<a href="${request.path('forgot-password')}">${t.forgot_password}</a>
<span>${t.no_account} <a href="${request.path('register', targetQuery(request))}">${t.register}</a></span>
</nav>
`;
}

/** Fields of a new account. */
function newAccountFields(request: PageRequest): Field[] {
  const { t, auth } = request;
  const { registerFields } = auth.model.user;
  return [
    { name: 'email', label: t.email, type: 'email', autocomplete: 'username' },
    { ...newPasswordField(request), name: 'password', label: t.password },
    { name: 'first_name', label: t.first_name, autocomplete: 'given-name', optional: true },
    { name: 'last_name', label: t.last_name, autocomplete: 'family-name', optional: true },
    ...registerFields.map((name) => ({ name, label: capital(name), autocomplete: 'on' })),
  ];
}

const newAccount = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== '' && name !== 'form_token'),
  );

/** `register` */
export const registerPage: Page = {
  name: 'register',
  fields: ['email', 'password', 'first_name', 'last_name'],
  show: (request, form) => {
    targetOf(request);
    const { t } = request;
    const back = html`<p class="links">${t.have_account} <a href="${request.path('sign-in', targetQuery(request))}">${t.sign_in}</a></p>`;
    return {
      title: t.register_title,
      body: html`${renderForm(request, form, { fields: newAccountFields(request), submit: t.register })}${back}`,
    };
  },
  submit: async (request, values) => {
    const target = targetOf(request);
    const { invitation } = request.query;
    const body = { ...newAccount(values), ...(invitation && { invitation }) };
    const answer = await request.call('POST /api/auth/register', { body });
    if (answer.status !== 202 || hasTicket(answer.body)) return proceed(request, answer, target);
    const { t } = request;
    return { title: t.check_mail, body: html`<p>${t.check_mail_continue}</p>` };
  },
};

const hasTicket = (body: unknown) => typeof (body as { ticket?: unknown }).ticket === 'string';

/** `setup`: the first administrator. */
export const setupPage: Page = {
  name: 'setup',
  fields: ['email', 'password', 'first_name', 'last_name'],
  show: (request, form) => {
    const { t, query } = request;
    if (!query['token'])
      return { title: t.setup_title, body: html`<p>${t.link_missing}</p>`, status: 400 };
    return {
      title: t.setup_title,
      body: html`<p>${t.setup_text}</p>${renderForm(request, form, {
        fields: newAccountFields(request),
        submit: t.setup_submit,
      })}`,
    };
  },
  submit: async (request, values) => {
    const body = { ...newAccount(values), token: request.query['token'] ?? '' };
    const answer = await request.call('POST /api/auth/setup', { body });
    return answer.status === 202
      ? proceed(request, answer, { returnTo: null })
      : finish(request, answer.body as LoginObject, { returnTo: null });
  },
};
