import type { MailContext, MailData } from './kinds.ts';

/** Data for previews. */
export const SAMPLE_USER: NonNullable<MailContext['user']> = {
  id: 1,
  email: 'ada@example.com',
  username: 'ada',
  first_name: 'Ada',
  last_name: 'Lovelace',
};

const TIME = '2026-05-04 10:30 UTC';

/** Sample data of each kind. `url` is the address of the pages. */
export function sampleData(url: string): MailData {
  const link = (page: string) => `${url}/${page}?token=sample`;
  const account = `${url}/account`;
  return {
    'verify-email': {
      link: link('verify-email'),
      hours: 24,
      username: 'ada',
      taken_username: '',
      taken_phone: '',
    },
    'change-email': { link: link('change-email'), hours: 24 },
    'email-changed': { email: 'ada@new.example' },
    'reset-password': { link: link('reset-password'), minutes: 10 },
    'password-changed': {
      change: 'changed',
      link: `${url}/forgot-password`,
      sessions_ended: 2,
      devices_ended: 1,
      api_keys_ended: ['Backup'],
      identities_ended: ['github'],
      passkeys_ended: ['Phone'],
    },
    unlock: { link: link('unlock'), minutes: 15 },
    'new-device': { link: account, device: 'Firefox on Linux', ip: '203.0.113.7', time: TIME },
    'sign-in': { link: link('email-sign-in'), code: '123456', minutes: 10 },
    'account-exists': { change: 'register', link: `${url}/sign-in` },
    invitation: {
      link: link('invitation'),
      organization: 'Analytical Engines',
      role: 'Member',
      inviter: 'Charles Babbage',
      days: 7,
    },
    'account-created': { link: link('reset-password'), hours: 24 },
    'api-key-added': { change: 'added', name: 'Backup', link: account },
    'identity-linked': { change: 'added', provider: 'github', link: account },
    'passkey-added': { change: 'added', name: 'Phone', link: account },
    'second-factor-changed': { change: 'enabled', link: account },
    'recovery-code-used': { left: 9, link: account },
    'refresh-reuse': { link: account },
    'account-deletion': { link: link('restore'), date: '2026-05-18' },
    impersonated: { reason: 'Support request 42', time: TIME, link: account },
    alert: {
      type: 'alert.ip_bruteforce',
      time: TIME,
      ip: '203.0.113.7',
      details: '{"failures":20}',
    },
  };
}
