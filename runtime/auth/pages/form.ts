import { html, type Html, type HtmlValue } from '../mails/html.ts';
import { hidden } from './frame.ts';
import type { FormState, PageRequest } from './page.ts';

/** A labelled field. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'tel' | 'url';
  /** The token of the HTML standard that password managers read. */
  readonly autocomplete: string;
  readonly hint?: string | undefined;
  readonly optional?: boolean;
  readonly value?: string | undefined;
  readonly inputmode?: 'numeric';
  readonly focus?: boolean;
  readonly maxLength?: number;
  /** Distinguishes fields of the same name in several forms of a page. */
  readonly id?: string;
}

export interface FormOptions {
  readonly fields: readonly Field[];
  readonly submit: string;
  /** The action of the form, on a page with several forms. */
  readonly action?: string;
  readonly hiddenFields?: Readonly<Record<string, string | undefined>>;
  /** Content between the fields and the button. */
  readonly more?: HtmlValue;
  readonly danger?: boolean;
}

/** A form that posts to the page's own address. */
export function renderForm(
  request: PageRequest,
  form: FormState,
  { fields, submit, action, hiddenFields = {}, more, danger }: FormOptions,
): Html {
  const own = action === undefined || form.values['do'] === action;
  const state = own ? form : NOTHING;
  const extra = Object.entries({ ...hiddenFields, do: action }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return html`<form method="post" novalidate>
${hidden(request)}${extra.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${fields.map((field) => renderField(request, state, field))}${more}
<button class="${danger ? 'danger' : 'main'}">${submit}</button>
</form>
`;
}

/** The field for a new password, with the rule that it has to meet. */
export const newPasswordField = ({ t, auth }: PageRequest): Field => ({
  name: 'new_password',
  label: t.new_password,
  type: 'password',
  autocomplete: 'new-password',
  hint: t.password_hint.replace('{min}', String(auth.model.password.min)),
});

const NOTHING: FormState = { values: {}, errors: {} };

/** A field with its label, its hint and its error, which `aria-describedby` ties to it. */
function renderField(request: PageRequest, form: FormState, field: Field): Html {
  const { name, label, type = 'text', autocomplete, hint, optional } = field;
  const id = field.id ?? name;
  const error = form.errors[name];
  // A password is never sent back.
  const value = type === 'password' ? '' : (form.values[name] ?? field.value ?? '');
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${id}">${label}${optional && html` <span class="optional">${request.t.optional}</span>`}</label>
<input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${attributesOf(field, described, error)}>
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>\n`}${error && html`<p class="error" id="${id}-error">${error}</p>\n`}</div>
`;
}

/** The attributes that only some fields have. */
function attributesOf(field: Field, described: string, error: string | undefined): Html {
  const { optional, inputmode, maxLength, type, focus } = field;
  return html`${described && html` aria-describedby="${described}"`}${
    error && html` aria-invalid="true"`
  }${!optional && html` required`}${inputmode && html` inputmode="${inputmode}"`}${
    maxLength && html` maxlength="${maxLength}"`
  }${type === 'email' && html` autocapitalize="none" spellcheck="false"`}${
    (error || focus) && html` autofocus`
  }`;
}

/** A button that posts one action, for lists. */
export function actionForm(
  request: PageRequest,
  action: string,
  values: Readonly<Record<string, string>>,
  { label, describe, danger }: { label: string; describe?: string; danger?: boolean },
): Html {
  return html`<form class="inline" method="post">${hidden(request)}<input type="hidden" name="do" value="${action}">${Object.entries(
    values,
  ).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="${danger ? 'danger small' : 'small'}"${describe && html` aria-label="${`${label}: ${describe}`}"`}>${label}</button></form>`;
}

/** A form that the script for passkeys fills in and sends; hidden where there is no script. */
export function passkeyForm(
  request: PageRequest,
  {
    ceremony,
    label,
    conditional = false,
    action,
  }: {
    readonly ceremony: 'get' | 'create';
    readonly label: string;
    readonly conditional?: boolean;
    readonly action?: string;
  },
): Html {
  return html`<form method="post" data-passkey="${ceremony}"${conditional && html` data-conditional`} data-failed="${request.t.passkey_failed}" hidden>
${hidden(request)}${action && html`<input type="hidden" name="do" value="${action}">`}<input type="hidden" name="credential" value="">
<button class="second">${label}</button>
<p class="error" role="alert" hidden></p>
</form>
`;
}

/** Renders a checkbox with its label; a ticked one is sent as `yes`. */
export function checkbox(name: string, label: string, id = name): Html {
  return html`<div class="check"><input type="checkbox" id="${id}" name="${name}" value="yes"><label for="${id}">${label}</label></div>
`;
}
