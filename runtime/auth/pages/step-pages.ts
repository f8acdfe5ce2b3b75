import type { LoginObject } from '../sessions/issue-tokens.ts';
import { html, type HtmlValue } from '../mails/html.ts';
import { MINUTE } from '../base/time.ts';
import { finish, proceed, type Target, targetOf, targetQuery } from './finish.ts';
import { checkbox, type Field, newPasswordField, passkeyForm, renderForm } from './form.ts';
import { done } from './link-pages.ts';
import { isProblem } from './problems.ts';
import { parseAssertion } from './sign-in-pages.ts';
import type { FormState, Outcome, Page, PageRequest, View } from './page.ts';

type Values = Readonly<Record<string, string>>;

/**
 * `second-factor`: the page of each further step of a sign-in. The ticket says which step it is.
 */
export const secondFactorPage: Page = {
  name: 'second-factor',
  fields: ['code', 'recovery_code', 'new_password'],
  show: async (request, form) => {
    switch (request.step?.next) {
      case undefined:
        return over(request);
      case 'enroll_second_factor':
        return enrollView(request, form);
      case 'change_password':
        return changePasswordView(request, form);
      default:
        return codeView(request, form);
    }
  },
  submit: async (request, values) => {
    const { step, koa, cookies } = request;
    if (!step) return over(request);
    if (step.next === 'enroll_second_factor') return enroll(request, values);
    if (step.next !== 'change_password') return prove(request, values);
    const body = { ticket: step.ticket, new_password: values['new_password'] ?? '' };
    const answer = await request.call('POST /api/auth/change-password', { body });
    cookies.clearStep(koa);
    return proceed(request, answer, targetOfStep(request));
  },
};

const targetOfStep = ({ step }: PageRequest): Target => ({
  returnTo: step?.returnTo ?? null,
  ...(step?.codeChallenge && { codeChallenge: step.codeChallenge }),
});

function over(request: PageRequest): View {
  const { t } = request;
  return {
    title: t.second_factor_title,
    status: 400,
    body: html`<p>${t.step_over}</p><p class="links"><a href="${request.path('sign-in')}">${t.back_to_sign_in}</a></p>`,
  };
}

const codeField = (request: PageRequest): Field => ({
  name: 'code',
  label: request.t.code,
  autocomplete: 'one-time-code',
  inputmode: 'numeric',
  focus: true,
});

/** A code of the app or of a mail, a recovery code, or a passkey. */
function codeView(request: PageRequest, form: FormState): View {
  const { t, step, auth } = request;
  const methods = step?.methods ?? [];
  const usesRecoveryCode = request.query['use'] === 'recovery_code';
  const byMail = step?.next === 'email_code';
  const passkey = methods.includes('passkey');
  const field: Field = usesRecoveryCode
    ? { name: 'recovery_code', label: t.recovery_code, autocomplete: 'off', focus: true }
    : codeField(request);
  const remembers = 'secondFactor' in auth.model && !byMail;
  const withCode =
    byMail || usesRecoveryCode || methods.includes('totp') || methods.includes('email_code');
  return {
    title: t.second_factor_title,
    script: passkey,
    body: html`${withCode && !usesRecoveryCode && html`<p>${byMail ? t.email_code_text : t.second_factor_text}</p>`}${
      withCode &&
      renderForm(request, form, {
        fields: [field],
        submit: t.continue,
        more: remembers && checkbox('remember_device', t.remember_device),
      })
    }${passkey && passkeyForm(request, { ceremony: 'get', label: t.use_passkey })}${
      methods.includes('recovery_code') &&
      !usesRecoveryCode &&
      html`<p class="links"><a href="${request.path('second-factor', { use: 'recovery_code' })}">${t.use_recovery_code}</a></p>`
    }`,
  };
}

async function prove(request: PageRequest, values: Values): Promise<Outcome> {
  const { step } = request;
  const ticket = step?.ticket ?? '';
  if (values['do'] === 'passkey-options') {
    const { body } = await request.call('POST /api/auth/second-factor/options', {
      body: { ticket },
    });
    return { data: body };
  }
  const { code, recovery_code, credential } = values;
  const body = {
    ticket,
    ...(code !== undefined && { code: code.replaceAll(/\s/g, '') }),
    ...(recovery_code !== undefined && { recovery_code: recovery_code.trim() }),
    ...(credential && { credential: parseAssertion(credential) }),
    ...(values['remember_device'] === 'yes' && { remember_device: true }),
  };
  const answer = await request.call('POST /api/auth/second-factor', { body });
  const login = answer.body as Partial<LoginObject>;
  if (answer.status === 200 && !login.accessToken) return finishedElsewhere(request);
  return proceed(request, answer, targetOfStep(request));
}

/** The page after a password reset, which does not sign in. */
function finishedElsewhere(request: PageRequest): View {
  request.cookies.clearStep(request.koa);
  return done(request, 'reset_title', 'reset_done');
}

/**
 * The page for enrolling during a sign-in. It asks for the key with a form (POST), because a new
 * key is stored.
 */
function enrollView(request: PageRequest, form: FormState): View {
  const { t, step } = request;
  const started = step?.data as TotpStart | undefined;
  const body = started
    ? totpForm(request, form, started)
    : renderForm(request, form, { fields: [], submit: t.account_factor_enable, action: 'totp' });
  return { title: t.enroll_title, body: html`<p>${t.enroll_text}</p>${body}` };
}

/** The answer of `POST /api/auth/totp`. */
export interface TotpStart {
  readonly secret: string;
  readonly qr: string;
}

/** The key of a new authenticator, as image and text, and the field for its first code. */
export function totpForm(
  request: PageRequest,
  form: FormState,
  { secret, qr }: TotpStart,
): HtmlValue {
  const { t } = request;
  return html`<img class="qr" src="${qr}" alt="${t.enroll_qr}">
<p>${t.enroll_key}: <code>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>
${renderForm(request, form, {
  fields: [codeField(request)],
  submit: t.enroll_submit,
  action: 'totp-confirm',
})}`;
}

async function enroll(request: PageRequest, values: Values): Promise<Outcome> {
  const { step, cookies, koa, auth } = request;
  const ticket = step?.ticket ?? '';
  if (values['do'] !== 'totp-confirm') {
    const { body } = await request.call('POST /api/auth/totp', { body: { ticket } });
    const { secret, qr } = body as TotpStart;
    cookies.writeStep(koa, {
      ...step!,
      data: { secret, qr: '' },
      until: auth.now() + 10 * MINUTE,
    });
    return withKey(request, { secret, qr });
  }
  const code = (values['code'] ?? '').replaceAll(/\s/g, '');
  const answer = await request.call('POST /api/auth/totp/confirm', { body: { ticket, code } });
  const { recovery_codes, login } = answer.body as {
    recovery_codes: readonly string[];
    login?: LoginObject;
  };
  const next = login ? await finish(request, login, targetOfStep(request)) : null;
  return codesView(request, recovery_codes, next?.redirect ?? request.path('account'));
}

function withKey(request: PageRequest, started: TotpStart): View {
  const { t } = request;
  const body = totpForm(request, { values: {}, errors: {} }, started);
  return { title: t.enroll_title, body: html`<p>${t.enroll_text}</p>${body}` };
}

/** Recovery codes, which are shown once. */
export function codesView({ t }: PageRequest, codes: readonly string[], next: string): View {
  return {
    title: t.recovery_title,
    body: html`<p>${t.recovery_text}</p><ul class="codes">${codes.map((code) => html`<li>${code}</li>`)}</ul><p class="links"><a href="${next}">${t.recovery_kept}</a></p>`,
  };
}

function changePasswordView(request: PageRequest, form: FormState): View {
  const { t } = request;
  return {
    title: t.change_password_title,
    body: html`<p>${t.change_password_text}</p>${renderForm(request, form, {
      fields: [newPasswordField(request)],
      submit: t.save,
    })}`,
  };
}

/** `email-sign-in`: asks for the mail, and takes its link or code. */
export const emailSignInPage: Page = {
  name: 'email-sign-in',
  fields: ['email', 'code'],
  show: (request, form) => {
    const { t, query, step } = request;
    const title = t.email_sign_in_title;
    if (!request.serves('POST /api/auth/email-sign-in')) return missing(request);
    if (query['token'])
      return {
        title,
        body: html`<p>${t.email_sign_in_link}</p>${renderForm(request, form, { fields: [], submit: t.sign_in })}`,
      };
    if (step?.next === 'email_sign_in')
      return {
        title,
        body: html`<p role="status">${t.email_sign_in_sent}</p>${renderForm(request, form, { fields: [codeField(request)], submit: t.sign_in })}`,
      };
    targetOf(request);
    return {
      title,
      body: html`<p>${t.email_sign_in_text}</p>${renderForm(request, form, {
        fields: [{ name: 'email', label: t.email, type: 'email', autocomplete: 'username' }],
        submit: t.email_sign_in_submit,
      })}<p class="links"><a href="${request.path('sign-in', targetQuery(request))}">${t.back_to_sign_in}</a></p>`,
    };
  },
  submit: async (request, { email, code }) => {
    const { query, step, cookies, koa, auth } = request;
    if (!request.serves('POST /api/auth/email-sign-in')) return missing(request);
    const ticket = step?.next === 'email_sign_in' ? step.ticket : undefined;
    if (query['token'] || code !== undefined) {
      const proof = query['token'] ? { token: query['token'] } : { code: (code ?? '').trim() };
      const body = { ...proof, ...(ticket && { ticket }) };
      const answer = await request.call('POST /api/auth/email-sign-in/complete', { body });
      return proceed(request, answer, targetOfStep(request));
    }
    const target = targetOf(request);
    const { body } = await request.call('POST /api/auth/email-sign-in', {
      body: { email: email ?? '' },
    });
    cookies.writeStep(koa, {
      next: 'email_sign_in',
      ticket: (body as { ticket: string }).ticket,
      methods: [],
      returnTo: target.returnTo,
      ...(target.codeChallenge && { codeChallenge: target.codeChallenge }),
      until: auth.now() + 10 * MINUTE,
    });
    return { redirect: request.path('email-sign-in') };
  },
};

/** The page for a flow that this server does not have. */
export function missing({ t }: PageRequest): View {
  return { title: t.page_missing, status: 404, body: html`<p>${t.page_missing_text}</p>` };
}

/** `invitation`: to an organization. */
export const invitationPage: Page = {
  name: 'invitation',
  show: (request, form) => {
    const { t, query, signedIn } = request;
    if (!request.serves('POST /api/auth/invitations/accept')) return missing(request);
    const { token } = query;
    if (!token)
      return { title: t.invitation_title, status: 400, body: html`<p>${t.link_missing}</p>` };
    const back = request.path('invitation', { token });
    const register = request.path('register', { invitation: token });
    const ways = signedIn
      ? renderForm(request, form, { fields: [], submit: t.invitation_accept, action: 'accept' })
      : html`<ul class="ways"><li><a class="second" href="${request.path('sign-in', { return_to: back })}">${t.sign_in}</a></li><li><a class="second" href="${register}">${t.invitation_register}</a></li></ul>`;
    return {
      title: t.invitation_title,
      body: html`<p>${t.invitation_text}</p>${ways}${signedIn && renderForm(request, form, { fields: [], submit: t.invitation_decline, action: 'decline', danger: true })}`,
    };
  },
  submit: async (request, values) => {
    if (!request.serves('POST /api/auth/invitations/accept')) return missing(request);
    const declines = values['do'] === 'decline';
    const endpoint = `POST /api/auth/invitations/${declines ? 'decline' : 'accept'}`;
    const body = { token: request.query['token'] ?? '' };
    try {
      await request.call(endpoint, { body });
    } catch (error) {
      if (!isProblem(error) || error.status !== 403) throw error;
      return { ...done(request, 'invitation_title', 'invitation_forbidden'), status: 403 };
    }
    return done(
      request,
      'invitation_title',
      declines ? 'invitation_declined' : 'invitation_accepted',
    );
  },
};
