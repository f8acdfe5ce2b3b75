import { confirmed, opens, type Place, type Press } from './press.ts';

const APP = '/api/apps/web';
/** The buttons above the tabs, which are pressed on the last one. */
const ABOVE: readonly Press[] = [
  opens('Deploy', 'Deploy web'),
  opens('Roll back', 'Roll back'),
  { button: 'Delete app', sees: ['alertdialog', 'Delete app'] },
  { button: 'Stop', sees: ['alertdialog', 'Stop'] },
];

/** The page Apps, and the tabs of an app, which the last of them deletes. */
export const APPS: readonly Place[] = [
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
  {
    at: '/apps/web?tab=logs',
    presses: [
      { button: 'Pause', sees: ['button', 'Resume'] },
      { button: 'Resume', sees: ['button', 'Pause'] },
      { button: 'Download', sees: ['log', 'Log lines'] },
      { button: 'Clear', sees: ['log', 'Log lines'] },
    ],
  },
  {
    at: '/apps/web?tab=environment',
    presses: [
      {
        ...{ button: 'Add variable', dialog: 'Add variable', go: 'Save' },
        ...{
          fill: { Key: 'MODE', Value: 'hidden-value' },
          call: `PUT ${APP}/env`,
          audit: 'putEnv',
        },
      },
      {
        ...{ button: 'Set secret', dialog: 'Set secret', go: 'Save secret' },
        ...{ fill: { Key: 'TOKEN', Value: 'hidden-value' } },
        ...{ call: `PUT ${APP}/secrets/TOKEN`, audit: 'putSecret' },
      },
      {
        ...{ button: 'Change TOKEN', dialog: 'Change TOKEN', go: 'Save secret' },
        ...{ fill: { Value: 'hidden-value' }, call: `PUT ${APP}/secrets/TOKEN` },
      },
      {
        ...{ button: 'Remove TOKEN', dialog: 'Remove', go: 'Remove' },
        ...{ call: `DELETE ${APP}/secrets/TOKEN`, audit: 'deleteSecret' },
      },
      {
        ...{ button: 'Change WORDS', dialog: 'Change WORDS', go: 'Save' },
        ...{ fill: { Value: 'hidden-value' }, call: `PUT ${APP}/env` },
      },
      {
        ...{ button: 'Remove MODE', dialog: 'Remove', go: 'Remove', call: `PUT ${APP}/env` },
      },
      {
        ...{ button: 'Edit as text', dialog: 'Environment as text', go: 'Save' },
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
        ...{ go: 'Save', call: `PATCH ${APP}`, audit: 'changeApp' },
      },
      {
        ...{ button: 'Remove more.test', dialog: 'Remove', go: 'Remove', call: `PATCH ${APP}` },
      },
      {
        ...{ button: 'Change main domain', dialog: 'Change main domain', go: 'Save' },
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
        ...{ go: 'Add', call: `PATCH ${APP}` },
      },
      {
        ...{ button: 'Remove more', dialog: 'Remove volume', go: 'Remove volume' },
        call: `PATCH ${APP}`,
      },
      { button: 'Remove data', sees: ['alertdialog', 'Remove volume'] },
      { button: 'Apply now', call: `PATCH ${APP}` },
    ],
  },
  {
    at: '/apps/web?tab=backups',
    presses: [
      { button: 'Back up now', call: `POST ${APP}/backups`, audit: 'createBackup' },
      { button: 'Verify', call: `POST ${APP}/backups/*/verify`, audit: 'verifyBackup' },
      // `backups.test.ts` restores. Here the app would be stopped under the buttons that follow.
      { button: 'Restore', sees: ['alertdialog', 'Restore'] },
      {
        ...{ button: 'Delete backup', dialog: 'Delete backup', go: 'Delete backup' },
        ...{ call: `DELETE ${APP}/backups/*`, audit: 'deleteBackup' },
      },
    ],
  },
  {
    at: '/apps/web?tab=runs',
    presses: [
      { button: 'Run now: nightly', call: `POST ${APP}/cron/nightly/run`, audit: 'startCron' },
      {
        ...{ button: 'Run a command', dialog: 'Run a command', fill: { Command: 'sleep 60' } },
        ...{ go: 'Run', call: `POST ${APP}/runs`, audit: 'startRun' },
      },
      { button: 'Output', sees: ['dialog', 'Output'] },
      confirmed('Stop run', { call: `DELETE ${APP}/runs/*`, audit: 'stopRun' }),
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
        ...{ button: 'Deploy', dialog: 'Deploy web', go: 'Deploy', call: `POST ${APP}/deploy` },
        audit: 'deployApp',
      },
      {
        ...{ button: 'Roll back', dialog: 'Roll back', go: 'Roll back' },
        ...{ call: `POST ${APP}/rollback`, audit: 'rollbackApp' },
      },
      confirmed('Delete app', { call: `DELETE ${APP}`, audit: 'deleteApp' }),
    ],
  },
  {
    at: '/apps',
    presses: [
      {
        ...{ button: 'New app', dialog: 'New app', go: 'Create app' },
        ...{ fill: { Name: 'second', Image: 'twofold-test/web:1' } },
        ...{ call: 'POST /api/apps', audit: 'createApp' },
      },
    ],
  },
];
