import { ADMIN, confirmed, opens, type Place } from './press.ts';

/** The page Users, its tabs, and two users. */
export const USERS: readonly Place[] = [
  {
    at: '/users?tab=roles',
    presses: [
      {
        ...{ button: 'New role', dialog: 'New role', go: 'Create role' },
        ...{ fill: { Name: 'Packer', Permissions: 'posts:read' } },
        ...{ call: `POST ${ADMIN}/roles`, audit: 'createRole' },
      },
      {
        ...{ button: 'Grant to Packer', dialog: 'Grant permission', go: 'Grant' },
        ...{ fill: { Permission: 'posts:write' } },
        ...{ call: `PUT ${ADMIN}/roles/*/permissions/*`, audit: 'grantPermission' },
      },
      {
        ...{ button: 'Remove posts:write from Packer', dialog: 'Remove permission' },
        ...{ go: 'Remove permission', audit: 'revokePermission' },
        call: `DELETE ${ADMIN}/roles/*/permissions/*`,
      },
      {
        ...{ button: 'Rename Packer', dialog: 'Rename role', fill: { Name: 'Carrier' } },
        ...{ go: 'Rename', call: `PUT ${ADMIN}/roles/*`, audit: 'updateRole' },
      },
      {
        ...{ button: 'Delete Carrier', dialog: 'Delete role', go: 'Delete role' },
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
        ...{ button: 'New API key', dialog: 'New API key', go: 'Create API key' },
        ...{ fill: { Name: 'nightly', Scopes: 'posts:read' }, sees: ['dialog', 'API key created'] },
        ...{ call: `POST ${ADMIN}/api-keys`, audit: 'createApiKey' },
      },
      {
        ...{ button: 'Change scopes of nightly', dialog: 'Scopes of nightly' },
        ...{ fill: { Scopes: 'authors:read' }, go: 'Change scopes' },
        ...{ call: `PATCH ${ADMIN}/api-keys/*`, audit: 'updateApiKey' },
      },
      {
        ...{ button: 'Rotate nightly', dialog: 'Rotate nightly', go: 'Rotate' },
        sees: ['dialog', 'API key created'],
        ...{ call: `POST ${ADMIN}/api-keys/*/rotate`, audit: 'rotateApiKey' },
      },
      {
        ...{ button: 'Revoke plain', dialog: 'Revoke', go: 'Revoke' },
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
        ...{ button: 'End session from *', dialog: 'End session', go: 'End session' },
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
        ...{ button: 'New user', dialog: 'New user', go: 'Create user' },
        ...{ fill: { Email: 'new@x.test' } },
        ...{ call: `POST ${ADMIN}/users`, audit: 'createUser' },
      },
    ],
  },
];
