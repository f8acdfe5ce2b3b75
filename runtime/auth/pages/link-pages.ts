import { html, type HtmlValue } from '../mails/html.ts';
import type { PageName } from '../mails/links.ts';
import { proceed } from './finish.ts';
import { newPasswordField, renderForm } from './form.ts';
import type { Page, PageRequest, View } from './page.ts';
import type { TextKey } from './texts.ts';

/** `forgot-password` */
export const forgotPage: Page = {
  name: 'forgot-password',
  fields: ['email'],
  show: (request, form) => {
    const { t } = request;
    return {
      title: t.forgot_title,
      body: html`<p>${t.forgot_text}</p>${renderForm(request, form, {
        fields: [{ name: 'email', label: t.email, type: 'email', autocomplete: 'username' }],
        submit: t.forgot_submit,
      })}${backToSignIn(request)}`,
    };
  },
  submit: async (request, { email = '' }) => {
    await request.call('POST /api/auth/forgot-password', { body: { email } });
    return done(request, 'check_mail', 'forgot_done');
  },
};

/** `reset-password`: also chooses the password of an account that an administrator has made. */
export const resetPage: Page = {
  name: 'reset-password',
  fields: ['new_password'],
  show: (request, form) => {
    const { t } = request;
    if (!request.query['token']) return incomplete(request, 'reset_title');
    return {
      title: t.reset_title,
      body: html`${renderForm(request, form, {
        fields: [newPasswordField(request)],
        submit: t.reset_submit,
      })}`,
    };
  },
  submit: async (request, { new_password = '' }) => {
    const body = { token: request.query['token'] ?? '', new_password };
    const answer = await request.call('POST /api/auth/reset-password', { body });
    if (answer.status === 202) return proceed(request, answer, { returnTo: null });
    return done(request, 'reset_title', 'reset_done');
  },
};

interface LinkPage {
  readonly name: PageName;
  readonly endpoint: string;
  readonly title: TextKey;
  readonly text: TextKey;
  readonly submit: TextKey;
  readonly done: TextKey;
}

/**
 * A page that a link of a mail leads to, with a button: mail scanners open links, and a GET must
 * not use a token up.
 */
function linkPage({ name, endpoint, title, text, submit, done: doneText }: LinkPage): Page {
  return {
    name,
    show: (request, form) => {
      const { t, query } = request;
      if (!query['token']) return incomplete(request, title);
      return {
        title: t[title],
        body: html`<p>${t[text]}</p>${renderForm(request, form, { fields: [], submit: t[submit] })}`,
      };
    },
    submit: async (request, values) => {
      const given = Object.entries(values).filter(
        ([field, value]) => PASSWORDS.has(field) && value !== '',
      );
      const body = { token: request.query['token'] ?? '', ...Object.fromEntries(given) };
      const { status } = await request.call(endpoint, { body });
      return status === 202 ? askPassword(request, title, name) : done(request, title, doneText);
    },
  };
}

const PASSWORDS: ReadonlySet<string> = new Set(['password', 'new_password']);

/**
 * The link was opened where nothing shows who registered the address: with the password what was
 * registered stays, with a new one it ends.
 */
function askPassword(request: PageRequest, title: TextKey, name: PageName): View {
  const { t } = request;
  const form = { values: {}, errors: {} };
  const known = renderForm(request, form, {
    fields: [
      { name: 'password', label: t.password, type: 'password', autocomplete: 'current-password' },
    ],
    submit: t.verify_submit,
  });
  const anew = renderForm(request, form, {
    fields: [newPasswordField(request)],
    submit: t.reset_submit,
  });
  return {
    title: t[title],
    body: html`<p>${t.verify_password_text}</p>${known}${
      name === 'verify-email' && html`<p>${t.verify_anew_text}</p>${anew}`
    }`,
  };
}

const verifyLinkPage = linkPage({
  name: 'verify-email',
  endpoint: 'POST /api/auth/verify-email',
  title: 'verify_title',
  text: 'verify_text',
  submit: 'verify_submit',
  done: 'verify_done',
});

/** `verify-email`: with a token the confirmation, without one a new link. */
export const verifyPage: Page = {
  name: 'verify-email',
  fields: ['email', 'password', 'new_password'],
  show: (request, form) => {
    const { t, query } = request;
    if (query['token']) return verifyLinkPage.show(request, form);
    return {
      title: t.verify_title,
      body: html`<p>${t.verify_resend_text}</p>${renderForm(request, form, {
        fields: [{ name: 'email', label: t.email, type: 'email', autocomplete: 'username' }],
        submit: t.verify_resend,
      })}`,
    };
  },
  submit: async (request, values) => {
    if (request.query['token']) return verifyLinkPage.submit!(request, values);
    const body = { email: values['email'] ?? '' };
    await request.call('POST /api/auth/resend-verification', { body });
    return done(request, 'check_mail', 'verify_resent');
  },
};

export const changeEmailPage = linkPage({
  name: 'change-email',
  endpoint: 'POST /api/auth/verify-email',
  title: 'change_email_title',
  text: 'change_email_text',
  submit: 'verify_submit',
  done: 'verify_done',
});

export const unlockPage = linkPage({
  name: 'unlock',
  endpoint: 'POST /api/auth/unlock',
  title: 'unlock_title',
  text: 'unlock_text',
  submit: 'unlock_submit',
  done: 'unlock_done',
});

export const restorePage = linkPage({
  name: 'restore',
  endpoint: 'POST /api/auth/restore',
  title: 'restore_title',
  text: 'restore_text',
  submit: 'restore_submit',
  done: 'restore_done',
});

/** A page without a form, with the way on. */
export function done(request: PageRequest, title: TextKey, text: TextKey): View {
  const { t } = request;
  return { title: t[title], body: html`<p role="status">${t[text]}</p>${nextPageLink(request)}` };
}

function incomplete(request: PageRequest, title: TextKey): View {
  const { t } = request;
  return {
    title: t[title],
    status: 400,
    body: html`<p>${t.link_missing}</p>${backToSignIn(request)}`,
  };
}

const nextPageLink = (request: PageRequest): HtmlValue =>
  request.signedIn
    ? html`<p class="links"><a href="${request.path('account')}">${request.t.back_to_account}</a></p>`
    : backToSignIn(request);

const backToSignIn = (request: PageRequest): HtmlValue =>
  html`<p class="links"><a href="${request.path('sign-in')}">${request.t.back_to_sign_in}</a></p>`;
