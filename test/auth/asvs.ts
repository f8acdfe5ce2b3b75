/**
 * OWASP ASVS 5.0.0, chapters 6, 7, 9, 16 and the client's part of 10: each requirement by its number, with the test that
 * shows it (a part of its title), why it is not ours, or that it is open and what brings it. The words are ours; the standard's stand at https://asvs.dev.
 */
export type Coverage =
  | { readonly test: string }
  | { readonly docs: string }
  | { readonly na: string }
  /** It does not hold yet: what is missing, and what brings it. */
  | { readonly open: string };

const test = (title: string): Coverage => ({ test: title });
const docs = (words: string): Coverage => ({ docs: words });
const na = (why: string): Coverage => ({ na: why });
const open = (what: string): Coverage => ({ open: what });

/** Level 2 asks for one. The contract puts it into its second phase (2.16); until then a provider that demands one is the way. */
const NO_MFA = 'no second factor of our own: it is phase two of the contract, 2.16';
const NO_PAGES = 'an API without pages';
const NO_OOB = 'no out-of-band codes besides links, which are 256 random bits';

export const ASVS: Readonly<Record<string, Coverage>> = {
  '6.1.1': docs('**Limits** (ASVS 6.1.1'),
  '6.1.2': docs('(ASVS 6.1.2)'),
  '6.1.3': docs('(ASVS 6.1.3)'),
  '6.2.1': test('names the reason'),
  '6.2.2': test('change-password needs the current one'),
  '6.2.3': test('change-password needs the current one'),
  '6.2.4': test('refuses every one of the 3,000 most common passwords'),
  '6.2.5': test('has no rules of composition'),
  '6.2.6': na(NO_PAGES),
  '6.2.7': na(NO_PAGES),
  '6.2.8': test('nothing is trimmed, folded or normalised'),
  '6.2.9': test('a password of 72 bytes and one of 73 are told apart'),
  '6.2.10': na('passwords never expire'),
  '6.2.11': test('names the reason'),
  '6.2.12': open(
    'no list of breached passwords of our own: only with the hook breachedPasswords; auth.password.breached of auth-2, section 1, brings it',
  ),
  '6.3.1': test('50 parallel wrong logins cost five compares'),
  '6.3.2': na('no account is made by the server'),
  '6.3.3': na(NO_MFA),
  '6.3.4': test('whatever opens a session is a way in that the README lists'),
  '6.3.5': test('tells of a changed password, a new device and an alert'),
  '6.3.6': na('mail resets a password and never signs in'),
  '6.3.7': test('an address is changed by its own link, and the old one is told'),
  '6.3.8': open(
    'sign-in and forgot-password tell nothing, but register answers 409 for a known address unless enumeration is strict: the contract, 2.4',
  ),
  '6.4.1': na('no initial passwords'),
  '6.4.2': na('no hints and no secret questions'),
  '6.4.3': test('sets the password, ends every session, logs nobody in'),
  '6.4.4': na(NO_MFA),
  '6.4.5': na('nothing that signs in expires by itself but API keys, whose owner sets it'),
  '6.4.6': test('an administrator starts a reset and never sets a password'),
  '6.5.1': test('of ten uses at once one succeeds'),
  '6.5.2': test('only the hash of the token is stored'),
  '6.5.3': test('only the hash of the token is stored'),
  '6.5.4': na(NO_OOB),
  '6.5.5': test('a token lives 10 minutes'),
  '6.5.6': test('links a provider by a ticket, and unlinks it'),
  '6.5.7': na(NO_MFA),
  '6.5.8': na(NO_MFA),
  '6.6.1': na('no telephone'),
  '6.6.2': test('the newest token is the one that works'),
  '6.6.3': na(NO_OOB),
  '6.6.4': na('no push messages'),
  '6.7.1': na('no certificates'),
  '6.7.2': na('no cryptographic devices'),
  '6.8.1': test('a flow begun for one provider does not end at another'),
  '6.8.2': test('an id token that ${name} is refused'),
  '6.8.3': na('no SAML'),
  '6.8.4': na(
    'nothing here expects a strength, a method or a recent sign-in of a provider: what needs a recent proof asks for one of our own, 7.5.1',
  ),

  '7.1.1': docs('(ASVS 7.1)'),
  '7.1.2': docs('20 for each user'),
  '7.1.3': docs('**Sessions**'),
  '7.2.1': test('the next request is 401 on every server when the user'),
  '7.2.2': test('two logins in one second give different tokens'),
  '7.2.3': test('gives a whole login object, and the token has the documented form'),
  '7.2.4': open(
    'a sign-in gives a new session, but reauthenticate keeps the tokens: new ones come with auth-2, section 7',
  ),
  '7.3.1': test('a session idles out after 7 days'),
  '7.3.2': test('a session idles out after 7 days and ends after 30'),
  '7.4.1': test('logout ends this session and no other'),
  '7.4.2': test('disabling a user ends sessions, keys and one-time tokens at once'),
  '7.4.3': test('change-password needs the current one, ends the other sessions'),
  '7.4.4': na(NO_PAGES),
  '7.4.5': test('ends every session of a user'),
  '7.5.1': test('what changes an account is refused five minutes after the proof'),
  '7.5.2': open(
    'sessions are listed and ended, but without a proof of the last five minutes: it comes with auth-2, section 7',
  ),
  '7.5.3': test('reauthenticate proves the password for five minutes'),
  '7.6.1': na("a session with us lives by our own times, whatever the provider's does"),
  '7.6.2': test('a callback works once, in the browser that began it'),

  '9.1.1': test('is refused ${name}'),
  '9.1.2': test('is refused ${name}'),
  '9.1.3': test('a key of another kind than the algorithm is no key'),
  '9.2.1': test('leeway is what the manifest says and no more'),
  '9.2.2': test('a host token is no access token and the other way round'),
  '9.2.3': test('issuer and audience are demanded once they are configured'),
  '9.2.4': test('issuer and audience are demanded once they are configured'),

  '10.1.1': test('the token is in a cookie only'),
  '10.1.2': test('a code of another browser is of no use: PKCE'),
  '10.2.1': test('begins with code, PKCE S256, state, nonce'),
  '10.2.2': test('a wrong or missing issuer in the answer is a mix-up'),
  '10.2.3': test('begins with code, PKCE S256, state, nonce'),
  '10.4.5': test('the token before is taken for ten seconds; after that it ends the session'),
  '10.5.1': test('an id token that ${name} is refused'),
  '10.5.2': test('makes a user, and the next time it is the same one'),
  '10.5.3': test('an issuer that describes another one is not used'),
  '10.5.4': test('an id token that ${name} is refused'),
  '10.5.5': na('no back-channel logout'),

  '16.1.1': docs('(ASVS 16.1.1)'),
  '16.2.1': test('are told to listeners in the documented envelope'),
  '16.2.2': test('are told to listeners in the documented envelope'),
  '16.2.3': docs('(ASVS 16.1.1)'),
  '16.2.4': test('each is one line of the log'),
  '16.2.5': test('each is one line of the log, without secrets'),
  '16.3.1': test('login attempts are listed newest first'),
  '16.3.2': test('what a guard refuses is in the log'),
  '16.3.3': test('tell of an address that guesses'),
  '16.3.4': test('fails closed when it ${name}'),
  '16.4.1': test('without secrets and without line breaks from outside'),
  '16.4.2': na('the log is where the operator puts it'),
  '16.4.3': test('an independent implementation of Standard Webhooks verifies'),
  '16.5.1': test('fails closed when it ${name}'),
  '16.5.2': test('a mail server that is away is no obstacle'),
  '16.5.3': test('fails closed when it ${name}'),
  '16.5.4': open(
    'what a request throws is caught and logged; an error outside of one ends the process by Node, on stderr and not in the log',
  ),
};
