import type { MailTexts } from '../kinds.ts';

const UNASKED = ['If you did not ask for this, do nothing.'];
const NOT_YOU = ['If it was not you, reset your password.'];
const ACCOUNT = 'Look at your account';
const ENDED = [
  'Ended sessions: {sessions_ended}',
  'Forgotten devices: {devices_ended}',
  'Ended API keys: {api_keys_ended}',
  'Ended sign-in through: {identities_ended}',
  'Removed passkeys: {passkeys_ended}',
];

export const en: MailTexts = {
  'verify-email': {
    subject: 'Confirm your email address',
    body: [
      'Confirm that this is the email address of your account at {app}.',
      'The username {taken_username} is taken: yours is {username}.',
      'The telephone number {taken_phone} belongs to another account: yours has none.',
    ],
    action: 'Confirm the address',
    after: ['The link works for {hours} hours.', ...UNASKED],
  },
  'change-email': {
    subject: 'Confirm your new email address',
    body: ['Confirm that this is the new email address of your account at {app}.'],
    action: 'Confirm the address',
    after: ['The link works for {hours} hours.', ...UNASKED],
  },
  'email-changed': {
    subject: 'Your email address was changed',
    body: [
      'The email address of your account was changed to {email}.',
      'If it was not you, contact us at once.',
    ],
  },
  'reset-password': {
    subject: 'Reset your password',
    body: ['Follow this link to choose a new password.'],
    action: 'Choose a new password',
    after: ['The link works once, for {minutes} minutes.', ...UNASKED],
  },
  'password-changed': {
    subject: 'Your password was changed',
    body: ['The password of your account was changed.', ...ENDED],
    action: 'Reset your password',
    after: NOT_YOU,
  },
  'password-changed:reset': {
    subject: 'Your password was reset',
    body: ['The password of your account was reset.', ...ENDED],
    action: 'Reset your password',
    after: NOT_YOU,
  },
  unlock: {
    subject: 'Your account is locked',
    body: ['Too many failed sign-ins have locked your account for a while.'],
    action: 'Unlock the account',
    after: ['The link works once, for {minutes} minutes.', ...NOT_YOU],
  },
  'new-device': {
    subject: 'New sign-in to your account',
    body: [
      'Somebody signed in to your account from a device that was not seen before.',
      'Device: {device}',
      'IP address: {ip}',
      'Time: {time}',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'sign-in': {
    subject: 'Sign in to {app}',
    body: ['Your code is {code}. Type it where you asked for it.'],
    action: 'Sign in',
    after: [
      'It works once, for {minutes} minutes, and only in the browser that asked for it.',
      ...UNASKED,
    ],
  },
  'account-exists': {
    subject: 'You already have an account',
    body: [
      'Somebody, perhaps you, tried to register with this address, which has an account already.',
    ],
    action: 'Sign in',
    after: ['If it was not you, do nothing. Nothing was changed.'],
  },
  'account-exists:change-email': {
    subject: 'You already have an account',
    body: [
      'Somebody, perhaps you, tried to change the address of another account to this one, which has an account already. Nothing was changed.',
    ],
    action: 'Sign in',
  },
  invitation: {
    subject: 'An invitation from {app}',
    body: [
      'You are invited to join {organization} as {role}.',
      '{inviter} invited you.',
      'The link opens a page where you accept or decline.',
    ],
    action: 'Look at the invitation',
    after: ['The link works for {days} days.', 'If you do not know why, do nothing.'],
  },
  'account-created': {
    subject: 'Your account at {app}',
    body: ['An account was made for you. Choose its password to sign in.'],
    action: 'Choose a password',
    after: ['The link works once, for {hours} hours.'],
  },
  'api-key-added': {
    subject: 'An API key was made',
    body: ['An API key that acts for you was made: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'api-key-added:replaced': {
    subject: 'An API key was replaced',
    body: ['An API key that acts for you was replaced by a new one: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'api-key-added:removed': {
    subject: 'An API key was revoked',
    body: ['An API key that acted for you was revoked: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'identity-linked': {
    subject: 'A sign-in provider was linked',
    body: ['A provider was linked to your account: {provider} can now be used to sign in.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'identity-linked:removed': {
    subject: 'A sign-in provider was unlinked',
    body: [
      'A provider was unlinked from your account: {provider} can no longer be used to sign in.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added': {
    subject: 'A passkey was added',
    body: ['A passkey was added to your account: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added:removed': {
    subject: 'A passkey was removed',
    body: ['A passkey was removed from your account: {name}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'passkey-added:cloned': {
    subject: 'A passkey may have been copied',
    body: [
      'Somebody tried to sign in with what looks like a copy of your passkey {name}. It was refused. Remove the passkey and make a new one.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed': {
    subject: 'A second factor was turned on',
    body: ['Signing in to your account now asks for a code of your authenticator app.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:disabled': {
    subject: 'The second factor was turned off',
    body: ['Signing in to your account no longer asks for a code of your authenticator app.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:recovery-codes': {
    subject: 'New recovery codes were made',
    body: ['New recovery codes were made for your account. The old ones no longer work.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'second-factor-changed:removed': {
    subject: 'Your second factor was removed',
    body: [
      'An administrator removed the second factor of your account: codes, passkeys and remembered devices.',
    ],
    action: ACCOUNT,
    after: ['If you did not ask for this, contact us at once.'],
  },
  'recovery-code-used': {
    subject: 'A recovery code was used',
    body: ['A recovery code was used to sign in to your account. Codes that are left: {left}.'],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'refresh-reuse': {
    subject: 'A session was ended',
    body: [
      'A token of one of your sessions was used twice. The session was ended, as the token may have been copied.',
    ],
    action: ACCOUNT,
    after: NOT_YOU,
  },
  'account-deletion': {
    subject: 'Your account will be deleted',
    body: ['Your account at {app} will be deleted on {date}. Until then you can keep it.'],
    action: 'Keep the account',
    after: ['If you want it to go, do nothing.'],
  },
  impersonated: {
    subject: 'An administrator signed in as you',
    body: [
      'An administrator of {app} signed in to your account.',
      'Reason: {reason}',
      'Time: {time}',
    ],
    action: ACCOUNT,
    after: ['If you did not expect this, contact us.'],
  },
  alert: {
    subject: 'Security alert: {type}',
    body: ['{type} at {time}', 'IP address: {ip}', '{details}'],
  },
};
