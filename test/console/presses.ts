import { MODEL } from './whole-server.ts';

/** What a button of a page does. A new button needs a row: the test names those without one. */
export interface Press {
  /** Its name; `*` stands for any text, and then there may be none. */
  readonly button: string;
  /** Whether the page may be without it. */
  readonly optional?: true;
  /** The dialog that opens first, what is typed into it by label, and the button that goes on. */
  readonly dialog?: string;
  readonly fill?: Readonly<Record<string, string>>;
  readonly then?: string;
  /** The call that it makes, `METHOD /path`, with `*` for an id. */
  readonly call?: string;
  /** The action that the audit log has of that call; absent where nothing is changed. */
  readonly audit?: string;
  /** What is there afterwards, by role and name. */
  readonly sees?: readonly [role: string, name: string];
}

/** A page, or a tab of it, and its buttons in the order in which they are pressed. */
export interface Place {
  /** The address below the console's path. */
  readonly at: string;
  readonly presses: readonly Press[];
}

const ADMIN = '/api/auth/admin';
const confirmed = (button: string, rest: Omit<Press, 'button'>, name = button): Press => ({
  ...{ button, dialog: name, then: name },
  ...rest,
});
/** A button that opens a dialog which nothing is done with. */
const opens = (button: string, dialog: string): Press => ({ button, sees: ['dialog', dialog] });

const USERS: readonly Place[] = [
  {
    at: '/users?tab=roles',
    presses: [
      {
        ...{ button: 'New role', dialog: 'New role', then: 'Create role' },
        ...{ fill: { Name: 'Packer', Permissions: 'posts:read' } },
        ...{ call: `POST ${ADMIN}/roles`, audit: 'createRole' },
      },
      {
        ...{ button: 'Grant to Packer', dialog: 'Grant permission', then: 'Grant' },
        ...{ fill: { Permission: 'posts:write' } },
        ...{ call: `PUT ${ADMIN}/roles/*/permissions/*`, audit: 'grantPermission' },
      },
      {
        ...{ button: 'Remove posts:write from Packer', dialog: 'Remove permission' },
        ...{ then: 'Remove permission', audit: 'revokePermission' },
        call: `DELETE ${ADMIN}/roles/*/permissions/*`,
      },
      {
        ...{ button: 'Rename Packer', dialog: 'Rename role', fill: { Name: 'Carrier' } },
        ...{ then: 'Rename', call: `PUT ${ADMIN}/roles/*`, audit: 'updateRole' },
      },
      {
        ...{ button: 'Delete Carrier', dialog: 'Delete role', then: 'Delete role' },
        ...{ call: `DELETE ${ADMIN}/roles/*`, audit: 'deleteRole' },
      },
      { button: 'Remove * from *', sees: ['alertdialog', 'Remove permission'] },
      opens('Grant to *', 'Grant permission'),
      opens('Rename *', 'Rename role'),
      { button: 'Delete *', sees: ['alertdialog', 'Delete role'] },
    ],
  },
  {
    at: '/users?tab=keys',
    presses: [
      {
        ...{ button: 'New API key', dialog: 'New API key', then: 'Create API key' },
        ...{ fill: { Name: 'nightly', Scopes: 'posts:read' }, sees: ['dialog', 'API key created'] },
        ...{ call: `POST ${ADMIN}/api-keys`, audit: 'createApiKey' },
      },
      {
        ...{ button: 'Change scopes of nightly', dialog: 'Scopes of nightly' },
        ...{ fill: { Scopes: 'authors:read' }, then: 'Change scopes' },
        ...{ call: `PATCH ${ADMIN}/api-keys/*`, audit: 'updateApiKey' },
      },
      {
        ...{ button: 'Rotate nightly', dialog: 'Rotate nightly', then: 'Rotate' },
        sees: ['dialog', 'API key created'],
        ...{ call: `POST ${ADMIN}/api-keys/*/rotate`, audit: 'rotateApiKey' },
      },
      {
        ...{ button: 'Revoke plain', dialog: 'Revoke', then: 'Revoke' },
        ...{ call: `DELETE ${ADMIN}/api-keys/*`, audit: 'revokeApiKey' },
      },
      opens('Change scopes of *', 'Scopes of *'),
      opens('Rotate *', 'Rotate *'),
      { button: 'Revoke *', sees: ['alertdialog', 'Revoke'] },
    ],
  },
  { at: '/users?tab=events', presses: [] },
  { at: '/users?tab=log', presses: [] },
  {
    at: '/users/2',
    presses: [
      { button: 'Restore', call: `POST ${ADMIN}/users/2/restore`, audit: 'restoreUser' },
      { button: 'Unlock', call: `POST ${ADMIN}/users/2/unlock`, audit: 'unlockUser' },
      {
        ...{ button: 'Send password reset', audit: 'startReset' },
        call: `POST ${ADMIN}/users/2/reset-password`,
      },
      confirmed('Remove second factor', {
        ...{ call: `DELETE ${ADMIN}/users/2/second-factor`, audit: 'removeSecondFactor' },
      }),
      confirmed('Require password change', {
        call: `POST ${ADMIN}/users/2/require-password-change`,
        audit: 'requirePasswordChange',
      }),
      confirmed('Disable', {
        ...{ fill: { Reason: 'spam' }, audit: 'disableUser' },
        call: `POST ${ADMIN}/users/2/disable`,
      }),
      { button: 'Enable', call: `POST ${ADMIN}/users/2/enable`, audit: 'enableUser' },
      opens('New API key', 'New API key'),
      confirmed('Delete user', { call: `DELETE ${ADMIN}/users/2`, audit: 'deleteUser' }),
    ],
  },
  {
    at: '/users/3',
    presses: [
      {
        ...{ button: 'End session from *', dialog: 'End session', then: 'End session' },
        ...{ call: `DELETE ${ADMIN}/users/3/sessions/*`, audit: 'endUserSession' },
      },
      confirmed('End all sessions', {
        call: `DELETE ${ADMIN}/users/3/sessions`,
        audit: 'endUserSessions',
      }),
      { button: 'Disable', sees: ['alertdialog', 'Disable'] },
      { button: 'Unlock', call: `POST ${ADMIN}/users/3/unlock` },
      { button: 'Send password reset', call: `POST ${ADMIN}/users/3/reset-password` },
      { button: 'Require password change', sees: ['alertdialog', 'Require password change'] },
      { button: 'Delete user', sees: ['alertdialog', 'Delete user'] },
      opens('New API key', 'New API key'),
    ],
  },
  {
    at: '/users',
    presses: [
      {
        ...{ button: 'New user', dialog: 'New user', then: 'Create user' },
        ...{ fill: { Email: 'new@x.test' } },
        ...{ call: `POST ${ADMIN}/users`, audit: 'createUser' },
      },
    ],
  },
];

const APP = '/api/apps/web';
/** The buttons above the tabs, which are pressed on the last one. */
const ABOVE: readonly Press[] = [
  opens('Deploy', 'Deploy web'),
  opens('Roll back', 'Roll back'),
  { button: 'Delete app', sees: ['alertdialog', 'Delete app'] },
  { button: 'Stop', sees: ['alertdialog', 'Stop'] },
];

const APPS: readonly Place[] = [
  {
    at: '/apps/web?tab=overview',
    presses: [...ABOVE],
  },
  {
    at: '/apps/web?tab=deployments',
    presses: [
      {
        ...{ button: 'Create webhook', sees: ['dialog', 'Webhook created'] },
        ...{ call: `PUT ${APP}/webhook`, audit: 'putWebhook' },
      },
      confirmed('Replace secret', {
        ...{ call: `PUT ${APP}/webhook`, sees: ['dialog', 'Webhook created'] },
      }),
      confirmed('Remove webhook', { call: `DELETE ${APP}/webhook`, audit: 'deleteWebhook' }),
    ],
  },
  { at: '/apps/web?tab=logs', presses: [{ button: 'Clear', sees: ['log', 'Log lines'] }] },
  {
    at: '/apps/web?tab=environment',
    presses: [
      {
        ...{ button: 'Add variable', dialog: 'Add variable', then: 'Save' },
        ...{
          fill: { Key: 'MODE', Value: 'hidden-value' },
          call: `PUT ${APP}/env`,
          audit: 'putEnv',
        },
      },
      {
        ...{ button: 'Set secret', dialog: 'Set secret', then: 'Save secret' },
        ...{ fill: { Key: 'TOKEN', Value: 'hidden-value' } },
        ...{ call: `PUT ${APP}/secrets/TOKEN`, audit: 'putSecret' },
      },
      {
        ...{ button: 'Change TOKEN', dialog: 'Change TOKEN', then: 'Save secret' },
        ...{ fill: { Value: 'hidden-value' }, call: `PUT ${APP}/secrets/TOKEN` },
      },
      {
        ...{ button: 'Remove TOKEN', dialog: 'Remove', then: 'Remove' },
        ...{ call: `DELETE ${APP}/secrets/TOKEN`, audit: 'deleteSecret' },
      },
      {
        ...{ button: 'Change WORDS', dialog: 'Change WORDS', then: 'Save' },
        ...{ fill: { Value: 'hidden-value' }, call: `PUT ${APP}/env` },
      },
      {
        ...{ button: 'Remove MODE', dialog: 'Remove', then: 'Remove', call: `PUT ${APP}/env` },
      },
      {
        ...{ button: 'Edit as text', dialog: 'Environment as text', then: 'Save' },
        ...{ fill: { Env: 'WORDS=hidden-value' }, call: `PUT ${APP}/env` },
      },
      opens('Change *', 'Change *'),
      { button: 'Remove *', sees: ['alertdialog', 'Remove'] },
      { button: 'Apply now', call: `PATCH ${APP}` },
    ],
  },
  {
    at: '/apps/web?tab=domains',
    presses: [
      {
        ...{ button: 'Add domain', dialog: 'Add domain', fill: { Domain: 'more.test' } },
        ...{ then: 'Save', call: `PATCH ${APP}`, audit: 'changeApp' },
      },
      {
        ...{ button: 'Remove more.test', dialog: 'Remove', then: 'Remove', call: `PATCH ${APP}` },
      },
      {
        ...{ button: 'Change main domain', dialog: 'Change main domain', then: 'Save' },
        ...{ fill: { Domain: 'main.test' }, call: `PATCH ${APP}` },
      },
      opens('Own certificate', 'Own certificate'),
    ],
  },
  {
    at: '/apps/web?tab=volumes',
    presses: [
      {
        ...{ button: 'Add volume', dialog: 'Add volume', fill: { Name: 'more', Path: '/more' } },
        ...{ then: 'Add', call: `PATCH ${APP}` },
      },
      {
        ...{ button: 'Remove more', dialog: 'Remove volume', then: 'Remove volume' },
        call: `PATCH ${APP}`,
      },
      { button: 'Remove data', sees: ['alertdialog', 'Remove volume'] },
      { button: 'Apply now', call: `PATCH ${APP}` },
    ],
  },
  {
    at: '/apps/web?tab=scale',
    presses: [{ button: 'Scale', call: `PATCH ${APP}` }],
  },
  {
    at: '/apps/web?tab=terminal',
    presses: [
      {
        ...{ button: 'Open terminal', sees: ['status', 'Connected'] },
        ...{ call: `POST ${APP}/terminals`, audit: 'openTerminal' },
      },
      { button: 'Close terminal', sees: ['status', 'Closed'] },
      { button: 'Restart', call: `POST ${APP}/restart`, audit: 'restartApp' },
      confirmed('Stop', { call: `POST ${APP}/stop`, audit: 'stopApp' }),
      { button: 'Start', call: `POST ${APP}/start`, audit: 'startApp' },
      {
        ...{ button: 'Deploy', dialog: 'Deploy web', then: 'Deploy', call: `POST ${APP}/deploy` },
        audit: 'deployApp',
      },
      {
        ...{ button: 'Roll back', dialog: 'Roll back', then: 'Roll back' },
        ...{ call: `POST ${APP}/rollback`, audit: 'rollbackApp' },
      },
      confirmed('Delete app', { call: `DELETE ${APP}`, audit: 'deleteApp' }),
    ],
  },
  {
    at: '/apps',
    presses: [
      {
        ...{ button: 'New app', dialog: 'New app', then: 'Create app' },
        ...{ fill: { Name: 'second', Image: 'twofold-test/web:1' } },
        ...{ call: 'POST /api/apps', audit: 'createApp' },
      },
    ],
  },
];

const WEBHOOK = `${ADMIN}/webhooks`;

/** Everything but the pages of one row, which `data-grid.test.ts` edits. */
export const PLACES: readonly Place[] = [
  {
    at: '/',
    presses: [
      { button: 'Show as table', sees: ['table', '*'] },
      { button: 'Show as plot', sees: ['img', '*'] },
      { button: 'Hide', sees: ['heading', 'Overview'] },
    ],
  },
  {
    at: '/graphql?query={posts{id}}',
    presses: [
      { button: 'Prettify', sees: ['textbox', 'Operation'] },
      { button: 'Run', call: 'POST /graphql', sees: ['region', 'Result'] },
      { button: 'Stop', sees: ['button', 'Stop'] },
      {
        ...{ button: 'Save', dialog: 'Save query', fill: { Name: 'mine' }, then: 'Save' },
        sees: ['list', 'Saved queries'],
      },
      { button: 'mine', sees: ['textbox', 'Operation'] },
      { button: 'Remove mine', dialog: 'Remove', then: 'Remove' },
      { button: 'Explain', call: 'POST /api/system/explain', sees: ['region', 'Plan'] },
      { button: 'Docs', sees: ['region', 'Documentation'] },
      { button: 'Query', sees: ['button', 'All types'] },
      { button: 'All types', sees: ['button', 'Mutation'] },
      { button: 'Mutation', sees: ['button', 'All types'] },
    ],
  },
  {
    at: '/data/posts',
    presses: [
      opens('Filter', 'Filter'),
      opens('Columns', 'Columns'),
      {
        ...{ button: 'New row', dialog: 'New Post', fill: { title: 'Made here' }, then: 'Create' },
        call: 'POST /api/posts',
      },
      { button: 'Export', sees: ['menu', 'Export'] },
    ],
  },
  {
    at: '/data/posts?as=admin',
    presses: [
      {
        ...{ button: 'New row', dialog: 'New Post', fill: { title: 'By hand' }, then: 'Create' },
        ...{ call: 'POST /api/data/posts', audit: 'createPostAsAdmin' },
      },
      opens('Filter', 'Filter'),
      opens('Columns', 'Columns'),
      { button: 'Export', sees: ['menu', 'Export'] },
    ],
  },
  { at: '/data/posts?row=1', presses: [{ button: 'Close', sees: ['grid', 'Post'] }] },
  ...USERS,
  ...APPS,
  {
    at: `/models?q=${MODEL}`,
    presses: [
      {
        ...{ button: `Download ${MODEL}`, sees: ['button', `Delete ${MODEL}`] },
        ...{ call: 'POST /api/mlx/models/*', audit: 'downloadModel*' },
      },
      {
        ...{ button: `Delete ${MODEL}`, dialog: 'Delete', then: 'Delete' },
        ...{ call: 'DELETE /api/mlx/models/*', audit: 'deleteModel*' },
      },
    ],
  },
  {
    at: '/logs',
    presses: [
      { button: 'Pause', sees: ['button', 'Resume'] },
      { button: 'Resume', sees: ['button', 'Pause'] },
      { button: 'Download', sees: ['log', 'Log lines'] },
      { button: 'Clear', sees: ['log', 'Log lines'] },
    ],
  },
  {
    at: '/jobs?tab=failed',
    presses: [{ button: 'Retry', call: 'POST /api/system/jobs/*/retry', audit: 'retryJob' }],
  },
  {
    at: '/jobs?tab=waiting&job=3',
    presses: [
      {
        ...{ button: 'Cancel job', dialog: 'Cancel job', then: 'Cancel job' },
        ...{ call: 'POST /api/system/jobs/*/cancel', audit: 'cancelJob' },
      },
      { button: 'Close job', sees: ['tab', 'Waiting*'] },
    ],
  },
  {
    at: '/webhooks',
    presses: [
      {
        ...{ button: 'Send test event', sees: ['status', 'The receiver answered 204'] },
        ...{ call: `POST ${WEBHOOK}/*/test`, audit: 'testWebhook' },
      },
      {
        ...{ button: 'Redeliver', call: `POST ${WEBHOOK}/*/deliveries/*/redeliver` },
        audit: 'redeliverWebhook',
      },
      {
        ...{ button: 'Edit', dialog: 'Edit webhook', fill: { Events: 'user.*' }, then: 'Save' },
        ...{ call: `PATCH ${WEBHOOK}/*`, audit: 'updateWebhook' },
      },
      {
        ...{ button: 'Rotate secret', dialog: 'Rotate secret', then: 'Rotate secret' },
        ...{ fill: { Overlap: '1h' }, sees: ['dialog', 'Webhook secret'] },
        ...{ call: `POST ${WEBHOOK}/*/rotate`, audit: 'rotateWebhook' },
      },
      { button: 'Disable', call: `PATCH ${WEBHOOK}/*`, sees: ['button', 'Enable'] },
      { button: 'Enable', call: `PATCH ${WEBHOOK}/*`, sees: ['button', 'Disable'] },
      { button: 'Next page', call: `GET ${WEBHOOK}/*/deliveries`, optional: true },
      { button: 'Previous page', call: `GET ${WEBHOOK}/*/deliveries`, optional: true },
      { button: 'First page', call: `GET ${WEBHOOK}/*/deliveries`, optional: true },
      confirmed('Delete webhook', { call: `DELETE ${WEBHOOK}/*`, audit: 'deleteWebhook' }),
      {
        ...{ button: 'New webhook', dialog: 'New webhook', then: 'Create webhook' },
        ...{ fill: { URL: 'http://127.0.0.1:9/x', Events: '*' } },
        ...{ sees: ['dialog', 'Webhook secret'], call: `POST ${WEBHOOK}`, audit: 'createWebhook' },
      },
    ],
  },
  {
    at: '/schema?type=Post',
    presses: [
      { button: 'Zoom in', sees: ['img', 'Model graph'] },
      { button: 'Zoom out', sees: ['img', 'Model graph'] },
      { button: 'Fit', sees: ['img', 'Model graph'] },
      { button: 'Compare again', call: 'GET /api/system/migrations' },
      { button: 'Close type', sees: ['table', 'Types'] },
    ],
  },
  {
    at: '/audit',
    presses: [{ button: '*', call: 'GET /api/system/audit', sees: ['table', 'Audit'] }],
  },
  { at: '/settings', presses: [] },
  {
    at: '/pages/sales',
    presses: [
      { button: 'Show as table', sees: ['table', '*'] },
      { button: 'Show as plot', sees: ['img', '*'] },
    ],
  },
];

/** Buttons that another row presses, or another test: of staged rows, of a model that runs. */
export const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  '/data/posts?row=1': ['Filter', 'Columns', 'New row', 'Export'],
  '/data/posts': ['Delete rows', 'Discard changes', 'Save changes'],
  // The types that the documentation names.
  '/graphql': ['Author*', 'Post*', 'State*', 'ID*', 'Int', 'String*', 'Boolean*', 'JSON', '[*]!'],
  // A user who was just made has their page.
  '/users': [
    ...['Disable', 'Unlock', 'Send password reset', 'Delete user', 'New API key'],
    'End all sessions',
    'End session from *',
    'New user',
  ],
  '/models': ['Start *', 'Stop *', 'Cancel *', 'Download *', 'Send', 'Stop generating'],
  '/apps': [
    ...['Deploy', 'Stop', 'Roll back', 'Delete app', 'Show as table', 'Start', 'Restart'],
    ...['New app', 'Create webhook', 'Replace secret', 'Remove webhook'],
  ],
  '/jobs': ['Cancel job', 'Retry'],
};
