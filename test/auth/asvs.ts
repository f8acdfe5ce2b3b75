/**
 * OWASP ASVS 5.0.0, chapters 6, 7, 9, 10 and 16: each requirement by its number, with its level and the test that would
 * fail if it did not hold (a part of its title; one of another folder begins with its file), or the feature that is
 * absent, or what differs and the page says so. The words are ours; the standard's stand at https://asvs.dev.
 */
export type Coverage = { readonly level: 1 | 2 | 3 } & (
  | { readonly test: string }
  | { readonly absent: string }
  | { readonly differs: string; readonly test: string }
);

const test = (level: 1 | 2 | 3, title: string): Coverage => ({ level, test: title });
const absent = (level: 1 | 2 | 3, feature: string): Coverage => ({ level, absent: feature });

const NO_PROVIDER =
  'an authorization server or OpenID provider: nobody signs in to another service through this one';

export const ASVS: Readonly<Record<string, Coverage>> = {
  '6.1.1': test(1, 'the limits and the lockout that the README tells are those of the code'),
  '6.1.2': test(2, 'the words that no password contains are documented where they are set'),
  '6.1.3': test(2, 'every way in is documented with what protects it'),
  '6.2.1': test(1, 'names the reason'),
  '6.2.2': test(1, 'change-password needs the current one'),
  '6.2.3': test(1, 'change-password needs the current one'),
  '6.2.4': test(1, 'refuses every one of the 3,000 most common passwords'),
  '6.2.5': test(1, 'has no rules of composition'),
  '6.2.6': test(1, 'fields of passwords are masked, and paste and password managers work'),
  '6.2.7': test(1, 'fields of passwords are masked, and paste and password managers work'),
  '6.2.8': test(1, 'nothing is trimmed, folded or normalised'),
  '6.2.9': test(2, 'a password of 72 bytes and one of 73 are told apart'),
  '6.2.10': test(2, 'a password is good until its owner changes it, years later too'),
  '6.2.11': test(2, 'names the reason'),
  '6.2.12': test(2, 'refuses a breached password wherever one is chosen'),
  '6.3.1': test(1, '50 parallel wrong logins cost five compares'),
  '6.3.2': test(1, 'a start makes no account, no key and no session'),
  '6.3.3': test(2, 'no token before a second factor is enrolled, and then none without it'),
  '6.3.4': test(2, 'whatever opens a session is a way in that the README lists'),
  '6.3.5': test(3, 'tells of a changed password, a new device and an alert'),
  '6.3.6': absent(3, 'signing in by mail, which is off unless the manifest has email_sign_in'),
  '6.3.7': test(3, 'an address is changed by its own link, and the old one is told'),
  '6.3.8': test(
    3,
    'a breached, short or common password is refused, and a known address is not told',
  ),
  '6.4.1': test(
    1,
    'makes an account whose mail has the link that sets the password, good for 24 hours',
  ),
  '6.4.2': absent(1, 'hints and secret questions: no field or table holds one'),
  '6.4.3': test(2, 'a reset changes nothing before the second factor, and does not take it away'),
  '6.4.4': test(2, 'a reset changes nothing before the second factor, and does not take it away'),
  '6.4.5': absent(3, 'factors that expire by themselves: only API keys do, whose owner sets it'),
  '6.4.6': test(3, 'an administrator starts a reset and never sets a password'),
  '6.5.1': test(2, 'a code and a recovery code are good once'),
  '6.5.2': test(2, 'is stored as passwords are'),
  '6.5.3': test(2, 'gives a secret of 20 bytes, its address and a QR code'),
  '6.5.4': test(2, 'a recovery code works once, in any case, with or without its dash'),
  '6.5.5': {
    ...test(2, 'one step to each side counts'),
    differs: 'a code of an app counts for 90 seconds instead of 30',
  },
  '6.5.6': test(3, 'renames and removes; the rest of the world gets 404'),
  '6.5.7': absent(3, 'biometrics of our own: a passkey is unlocked on the device that holds it'),
  '6.5.8': test(3, 'never takes a step twice, nor one before it; one step to each side counts'),
  '6.6.1': absent(2, 'telephone and SMS'),
  '6.6.2': test(
    2,
    'asking again ends no link, using one ends all, and one for another address is not it',
  ),
  '6.6.3': test(
    2,
    'a ticket ends after five minutes, after five wrong answers and with a new password',
  ),
  '6.6.4': absent(3, 'push messages'),
  '6.7.1': absent(3, 'certificates of clients'),
  '6.7.2': test(3, 'a challenge works once, for one purpose, for five minutes'),
  '6.8.1': test(2, 'a flow begun for one provider does not end at another'),
  '6.8.2': test(2, 'an id token that ${name} is refused'),
  '6.8.3': absent(2, 'SAML'),
  '6.8.4': absent(
    2,
    'expectations of the strength, method or time of a sign-in at a provider: a proof is asked here, 7.5.1',
  ),

  '7.1.1': test(
    2,
    'the times and the number of sessions that the README tells are those of the code',
  ),
  '7.1.2': test(
    2,
    'the times and the number of sessions that the README tells are those of the code',
  ),
  '7.1.3': test(2, 'how long a session lives that a provider opened is documented'),
  '7.2.1': test(1, 'the next request is 401 on every server when the user'),
  '7.2.2': test(1, 'two logins in one second give different tokens'),
  '7.2.3': test(1, 'gives a whole login object, and the token has the documented form'),
  '7.2.4': test(1, 'reauthentication gives new tokens, and the old ones are 401'),
  '7.3.1': test(2, 'a session idles out after 7 days'),
  '7.3.2': test(2, 'a session idles out after 7 days and ends after 30'),
  '7.4.1': test(1, 'logout ends this session and no other'),
  '7.4.2': test(1, 'disabling a user ends sessions, keys and one-time tokens at once'),
  '7.4.3': test(2, 'change-password needs the current one, ends the other sessions'),
  '7.4.4': test(
    2,
    'acceptance 12: Chromium without JavaScript registers, enrols TOTP, signs out, resets',
  ),
  '7.4.5': test(2, 'ends every session of a user'),
  '7.5.1': test(
    2,
    'ending other sessions and changing what signs in needs a proof of the last five minutes',
  ),
  '7.5.2': test(
    2,
    'ending other sessions and changing what signs in needs a proof of the last five minutes',
  ),
  '7.5.3': test(
    3,
    'username and phone, the export and the deletion need a proof of the last five minutes',
  ),
  '7.6.1': test(2, 'how long a session lives that a provider opened is documented'),
  '7.6.2': test(2, 'the cookie replayed does not make a used state new'),

  '9.1.1': test(1, 'is refused ${name}'),
  '9.1.2': test(1, 'is refused ${name}'),
  '9.1.3': test(1, 'a key of another kind than the algorithm is no key'),
  '9.2.1': test(1, 'leeway is what the manifest says and no more'),
  '9.2.2': test(2, 'a host token is no access token and the other way round'),
  '9.2.3': test(2, 'issuer and audience are demanded once they are configured'),
  '9.2.4': test(2, 'issuer and audience are demanded once they are configured'),

  '10.1.1': test(2, 'the token is in a cookie only'),
  '10.1.2': test(2, 'a code of another browser is of no use: PKCE'),
  '10.2.1': test(2, 'begins with code, PKCE S256, state, nonce'),
  '10.2.2': test(2, 'a wrong or missing issuer in the answer is a mix-up'),
  '10.2.3': test(3, 'nothing of a query reaches the provider'),
  '10.3.1': test(2, 'issuer and audience are demanded once they are configured'),
  '10.3.2': test(2, "a user's key has the project's data, and what the role has while it has it"),
  '10.3.3': test(2, 'the next user who gets a deleted key inherits nothing'),
  '10.3.4': test(2, 'what changes an account is refused five minutes after the proof'),
  '10.3.5': absent(3, 'tokens that are bound to their sender'),
  '10.4.1': test(1, '${JSON.stringify(bad)} is refused'),
  '10.4.2': test(1, 'with return_to a code goes back, which works once and for a minute'),
  '10.4.3': test(1, 'a flow is over after ten minutes, and its code after one'),
  '10.4.4': absent(1, NO_PROVIDER),
  '10.4.5': test(1, 'the token before is taken for ten seconds; after that it ends the session'),
  '10.4.6': test(2, 'with a code_challenge the code is for whoever has the verifier'),
  '10.4.7': absent(2, NO_PROVIDER),
  '10.4.8': test(2, 'a session idles out after 7 days and ends after 30'),
  '10.4.9': test(2, 'sessions lists the live ones and DELETE ends one'),
  '10.4.10': absent(2, NO_PROVIDER),
  '10.4.11': absent(2, NO_PROVIDER),
  '10.4.12': absent(3, NO_PROVIDER),
  '10.4.13': absent(3, NO_PROVIDER),
  '10.4.14': absent(3, NO_PROVIDER),
  '10.4.15': absent(3, NO_PROVIDER),
  '10.4.16': absent(3, NO_PROVIDER),
  '10.5.1': test(2, 'an id token that ${name} is refused'),
  '10.5.2': test(2, '%s is refused, because it cannot be compared exactly'),
  '10.5.3': test(2, 'an issuer that describes another one is not used'),
  '10.5.4': test(2, 'an id token that ${name} is refused'),
  '10.5.5': absent(2, 'back-channel logout'),
  '10.6.1': absent(2, NO_PROVIDER),
  '10.6.2': absent(2, NO_PROVIDER),
  '10.7.1': absent(2, NO_PROVIDER),
  '10.7.2': absent(2, NO_PROVIDER),
  '10.7.3': absent(2, NO_PROVIDER),

  '16.1.1': test(
    2,
    'what is logged, where and for how long is documented, and no other table is a log',
  ),
  '16.2.1': test(2, 'are told to listeners in the documented envelope'),
  '16.2.2': test(2, 'are told to listeners in the documented envelope'),
  '16.2.3': test(
    2,
    'what is logged, where and for how long is documented, and no other table is a log',
  ),
  '16.2.4': test(2, 'each is one line of the log'),
  '16.2.5': test(2, 'each is one line of the log, without secrets'),
  '16.3.1': test(2, 'login attempts are listed newest first'),
  '16.3.2': test(2, 'what a rule, a scope or an organization refuses is in the log once, on %s'),
  '16.3.3': test(2, 'tell of an address that guesses'),
  '16.3.4': test(2, 'a TLS failure of a service behind, and the password is refused'),
  '16.4.1': test(2, 'without secrets and without line breaks from outside'),
  '16.4.2': test(2, 'no route changes or removes a line of a log, and reading one is management'),
  '16.4.3': test(2, 'an independent implementation of Standard Webhooks verifies'),
  '16.5.1': test(
    2,
    'an unexpected error with stack, cause and request id, and the answer says none of it',
  ),
  '16.5.2': test(2, 'a mail server that is away is no obstacle'),
  '16.5.3': test(2, 'fails closed when it ${name}'),
  '16.5.4': test(
    3,
    'server/last-resort.test.ts: a rejected promise that nothing awaits is in the log',
  ),
};
