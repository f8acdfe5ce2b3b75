import { html, type Html, type HtmlValue } from '../mails/html.ts';
import { configuredProviders } from '../oauth/providers.ts';
import { deviceKind } from '../base/caller.ts';
import { actionForm, checkbox, newPasswordField, passkeyForm, renderForm } from './form.ts';
import type { FormState, PageRequest } from './page.ts';
import { capital } from './sign-in-pages.ts';
import type { TextKey } from './texts.ts';

type Row = Readonly<Record<string, any>>;

/** The sections of the account's page. */
export async function sections(request: PageRequest, form: FormState): Promise<Html> {
  const me = await read(request, 'GET /api/auth/me');
  const security = await read(request, 'GET /api/auth/security');
  const all = [
    await profileSection(request, form, me),
    emailSection(request, form, me, security),
    passwordSection(request, form, security),
    factorSection(request, form, security),
    await passkeySection(request, form),
    await listSection(request, form, SESSIONS),
    await listSection(request, form, DEVICES),
    await keySection(request, form),
    await identitySection(request),
    ...dataSections(request),
  ];
  return html`${all}`;
}

async function read(request: PageRequest, endpoint: string): Promise<Row> {
  return request.serves(endpoint) ? ((await request.call(endpoint)).body as Row) : {};
}

function section(id: string, title: string, body: HtmlValue): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${body}</section>
`;
}

async function profileSection(request: PageRequest, form: FormState, me: Row): Promise<HtmlValue> {
  if (!request.serves('PATCH /api/auth/me')) return null;
  const { t } = request;
  const field = (name: TextKey, autocomplete: string) => ({
    name,
    label: t[name],
    autocomplete,
    optional: name !== 'username',
    value: String(me[name] ?? ''),
  });
  const fields = [
    field('first_name', 'given-name'),
    field('last_name', 'family-name'),
    field('username', 'nickname'),
    field('phone', 'tel'),
    { ...field('avatar_url', 'photo'), type: 'url' as const },
    { ...field('locale', 'language'), value: request.locale },
  ];
  return section(
    'profile',
    t.account_profile,
    renderForm(request, form, { fields, submit: t.save, action: 'profile' }),
  );
}

function emailSection(request: PageRequest, form: FormState, me: Row, security: Row): HtmlValue {
  const { t } = request;
  const pending = security['pending_email'];
  return section(
    'email',
    t.account_email,
    html`<p>${t.account_email_now.replace('{email}', String(me['email']))}${security['email_verified'] === false && html` ${t.account_unverified}`}</p>${pending && html`<p>${t.account_pending.replace('{email}', String(pending))}</p>`}${renderForm(
      request,
      form,
      {
        fields: [
          { name: 'email', label: t.email, type: 'email', autocomplete: 'email', id: 'new-email' },
        ],
        submit: t.save,
        action: 'email',
      },
    )}`,
  );
}

function passwordSection(request: PageRequest, form: FormState, security: Row): HtmlValue {
  const { t } = request;
  if (security['has_password'] === false)
    return section(
      'password',
      t.account_password,
      html`<p>${t.account_no_password} <a href="${request.path('forgot-password')}">${t.reset_title}</a></p>`,
    );
  return section(
    'password',
    t.account_password,
    renderForm(request, form, {
      fields: [
        {
          name: 'current_password',
          label: t.current_password,
          type: 'password',
          autocomplete: 'current-password',
        },
        newPasswordField(request),
      ],
      more: html`${checkbox('keep_api_keys', t.account_keep_keys)}${checkbox('keep_identities', t.account_keep_identities)}`,
      submit: t.save,
      action: 'password',
    }),
  );
}

function factorSection(request: PageRequest, form: FormState, security: Row): HtmlValue {
  if (!request.serves('POST /api/auth/totp')) return null;
  const { t } = request;
  const on = security['totp'] === true;
  const forms = on
    ? html`${actionForm(request, 'recovery-codes', {}, { label: t.account_recovery_new })} ${actionForm(request, 'totp-off', {}, { label: t.account_factor_disable, danger: true })}`
    : form.values['do'] === 'totp-confirm'
      ? renderForm(request, form, {
          fields: [
            { name: 'code', label: t.code, autocomplete: 'one-time-code', inputmode: 'numeric' },
          ],
          submit: t.enroll_submit,
          action: 'totp-confirm',
        })
      : actionForm(request, 'totp', {}, { label: t.account_factor_enable });
  const text = on ? t.account_factor_on : t.account_factor_off;
  return section('second-factor', t.account_factor, html`<p>${text}</p>${forms}`);
}

async function passkeySection(request: PageRequest, form: FormState): Promise<HtmlValue> {
  if (!request.serves('GET /api/auth/passkeys')) return null;
  const { t } = request;
  const { passkeys = [] } = await read(request, 'GET /api/auth/passkeys');
  const list = rows(request, form, passkeys, {
    action: 'passkey-remove',
    rename: 'passkey-rename',
    title: (row) => row['name'] || t.account_passkeys,
    about: (row) => when(request, row),
  });
  const add = passkeyForm(request, {
    ceremony: 'create',
    label: t.account_passkey_add,
    action: 'passkey-add',
  });
  return section(
    'passkeys',
    t.account_passkeys,
    html`<p>${t.account_passkeys_text}</p>${list}${add}<noscript><p class="meta">${t.account_needs_script}</p></noscript>`,
  );
}

interface ListSpec {
  readonly id: string;
  readonly endpoint: string;
  readonly key: string;
  readonly title: TextKey;
  readonly action: string;
  readonly rename: string;
  readonly row: (request: PageRequest, row: Row) => { title: string; about: string };
  readonly more?: (request: PageRequest) => HtmlValue;
}

const SESSIONS: ListSpec = {
  id: 'sessions',
  endpoint: 'GET /api/auth/sessions',
  key: 'sessions',
  title: 'account_sessions',
  action: 'session-end',
  rename: 'session-rename',
  row: (request, row) => ({
    title:
      row['name'] || deviceKind(String(row['user_agent'] ?? '')) || String(row['id']).slice(0, 8),
    about: [row['current'] && request.t.current, row['ip'], day(row['last_seen_at'])]
      .filter(Boolean)
      .join(' · '),
  }),
  more: (request) =>
    actionForm(
      request,
      'sessions-end',
      {},
      { label: request.t.account_sessions_end, danger: true },
    ),
};

const DEVICES: ListSpec = {
  id: 'devices',
  endpoint: 'GET /api/auth/devices',
  key: 'devices',
  title: 'account_devices',
  action: 'device-forget',
  rename: 'device-rename',
  row: (request, row) => ({
    title: String(row['name'] ?? '') || String(row['ip'] ?? ''),
    about: when(request, row),
  }),
};

async function listSection(
  request: PageRequest,
  form: FormState,
  spec: ListSpec,
): Promise<HtmlValue> {
  if (!request.serves(spec.endpoint)) return null;
  const { t } = request;
  const answer = await read(request, spec.endpoint);
  const list = rows(request, form, (answer[spec.key] ?? []) as Row[], {
    action: spec.action,
    rename: spec.rename,
    title: (row) => spec.row(request, row).title,
    about: (row) => spec.row(request, row).about,
  });
  return section(spec.id, t[spec.title], html`${list}${spec.more?.(request)}`);
}

async function keySection(request: PageRequest, form: FormState): Promise<HtmlValue> {
  if (!request.serves('GET /api/auth/api-keys')) return null;
  const { t } = request;
  const { api_keys = [] } = await read(request, 'GET /api/auth/api-keys');
  const list = rows(request, form, api_keys, {
    action: 'key-revoke',
    rename: 'key-rename',
    title: (row) => String(row['name']),
    about: (row) => [...(row['scopes'] ?? []), when(request, row)].join(' · '),
  });
  const add = renderForm(request, form, {
    fields: [
      { name: 'name', label: t.name, autocomplete: 'off', id: 'key-name' },
      { name: 'scopes', label: t.account_scopes, autocomplete: 'off', optional: true },
    ],
    submit: t.account_key_add,
    action: 'key-add',
  });
  return section('api-keys', t.account_keys, html`${list}${add}`);
}

async function identitySection(request: PageRequest): Promise<HtmlValue> {
  const { t, auth } = request;
  const ids = new Set(auth.config.providers.map(({ name }) => name));
  const configured = configuredProviders(auth.model.oauth.providers).filter(({ name }) =>
    ids.has(name),
  );
  if (configured.length === 0) return null;
  const { identities = [] } = await read(request, 'GET /api/auth/identities');
  const linked = (identities as Row[]).map((row) => ({ ...row, id: row['provider'] }) as Row);
  const list = rows(request, NOTHING, linked, {
    action: 'unlink',
    title: (row) => capital(String(row['provider'])),
    about: (row) => String(row['email'] ?? ''),
  });
  const free = configured.filter(({ name }) => !linked.some((row) => row['id'] === name));
  const links = free.map(({ name }) =>
    actionForm(
      request,
      'link',
      { provider: name },
      {
        label: t.account_link.replace('{provider}', capital(name)),
      },
    ),
  );
  return section(
    'identities',
    t.account_identities,
    html`${list}${links.map((each) => html`${each} `)}`,
  );
}

function dataSections(request: PageRequest): HtmlValue[] {
  const { t } = request;
  const exporting =
    request.serves('GET /api/auth/me/export') &&
    section(
      'export',
      t.account_export,
      html`<p>${t.account_export_text}</p>${actionForm(request, 'export', {}, { label: t.account_export_submit })}`,
    );
  const deleting =
    request.serves('DELETE /api/auth/me') &&
    section(
      'delete',
      t.account_delete,
      html`<p>${t.account_delete_text}</p>${renderForm(request, NOTHING, {
        fields: [],
        more: checkbox('sure', t.account_delete_confirm),
        submit: t.account_delete,
        action: 'delete',
        danger: true,
      })}`,
    );
  return [exporting, deleting];
}

const NOTHING: FormState = { values: {}, errors: {} };

interface RowsSpec {
  /** The action that removes a row. */
  readonly action: string;
  /** The action that gives a row another name. */
  readonly rename?: string;
  readonly title: (row: Row) => string;
  readonly about: (row: Row) => string;
}

/** A list with a button that removes each row, and a form that renames it. */
function rows(
  request: PageRequest,
  form: FormState,
  list: readonly Row[],
  { action, rename, title, about }: RowsSpec,
): Html {
  const { t } = request;
  if (list.length === 0) return html`<p class="meta">${t.none}</p>`;
  const items = list.map((row) => {
    const remove = { label: t.remove, describe: title(row), danger: true };
    return html`<li><span>${title(row)} <span class="meta">${about(row)}</span></span>${rename && renameForm(request, form, row, { action: rename, title: title(row) })}${actionForm(request, action, { id: String(row['id']) }, remove)}</li>`;
  });
  return html`<ul class="list">${items}</ul>`;
}

/** A form that opens without a script. */
function renameForm(
  request: PageRequest,
  form: FormState,
  row: Row,
  { action, title }: { readonly action: string; readonly title: string },
): Html {
  const { t } = request;
  const id = String(row['id']);
  const refused = form.values['do'] === action && form.values['id'] === id;
  const body = renderForm(request, refused ? form : NOTHING, {
    fields: [
      {
        name: 'name',
        label: t.name,
        autocomplete: 'off',
        id: `${action}-${id}`,
        value: String(row['name'] ?? ''),
      },
    ],
    submit: t.save,
    action,
    hiddenFields: { id },
  });
  return html`<details class="rename"${refused && html` open`}><summary aria-label="${`${t.rename}: ${title}`}">${t.rename}</summary>${body}</details>`;
}

function when({ t }: PageRequest, row: Row): string {
  return (
    `${t.created} ${day(row['created_at'])}, ` +
    `${t.last_used} ${row['last_used_at'] ? day(row['last_used_at']) : t.never}`
  );
}

const day = (time: unknown) => String(time ?? '').slice(0, 10);
