import type { Line } from './contract.ts';

/**
 * The second contract for auth (auth-2): one's own account, corrections and what is accepted, as `contract.ts` holds the
 * first one.
 */
export const CONTRACT_2: Readonly<Record<string, readonly Line[]>> = {
  '§1': [
    ['the defaults of account and password.breached', 'is off by default: nothing is asked'],
    ['five hex digits of a SHA-1 leave', 'only five hex digits of a SHA-1 leave'],
    ['on_failure', 'the password is taken or refused as the manifest says'],
  ],
  '§2': [
    [
      'identity columns under any spelling',
      'schema/identity.test.ts: is known under any of its spellings',
    ],
    [
      'no mutation writes them; the fix names the flow',
      'schema/identity.test.ts: is written by no mutation: the fix says what to take out',
    ],
    ['nor api.crud', 'schema/identity.test.ts: is in no input of api.crud'],
    [
      'a server given such a schema does not start',
      'auth/identity.test.ts: cannot be given a schema whose mutations write their address',
    ],
    ['no template has a finding', 'schema/identity.test.ts: gives no template a finding'],
    [
      'defaults of the user type',
      'schema/identity.test.ts: keep accounts to their owners, and names to who signed in',
    ],
    [
      'a rule that is written wins',
      'schema/identity.test.ts: give way to what is said, operation by operation',
    ],
    ['keys by scope', 'auth/identity.test.ts: are kept in REST as in GraphQL, and open to a key'],
    [
      'unique is what is compared',
      'auth/identity.test.ts: are unique by username and phone too, as they are compared',
    ],
    [
      'two such rows stay as they are',
      'auth/identity.test.ts: of a database with two of one address stay as they are',
    ],
  ],
  '§8': [
    ['PATCH /me', 'PATCH /me changes what is sent', 'PATCH /me names the field'],
    ['taken: 409', 'a username or a telephone number that is taken is 409 in any spelling'],
    ['proof', 'username and phone, the export and the deletion need a proof'],
    ['GET /security', 'GET /security says what is verified, pending'],
    ["sessions have names; another's is 404", "a session has a name; another's session is 404"],
    [
      'API keys and identities',
      'the owner lists, names and revokes keys, lists and ends identities',
    ],
    [
      'the export',
      'has everything about the user and the rows that are theirs, no secret',
      'is sent while it is read',
      'a client that goes away ends the reading, and four at once are the most',
    ],
    [
      'deletion and restore',
      'ends tokens, refresh tokens, keys and links at once, login is 403',
      'of ten deletions and ten restores at once',
      'delete: false has no deletion',
    ],
    [
      'after the grace',
      'the row goes, with everything of the module, and its names are free again',
      'a row that RESTRICT keeps stays, emptied of everything personal',
      'until then nothing goes; a server that starts after it deletes',
    ],
    [
      'what ends with a password',
      'a reset leaves an intruder no session, key, device',
      'a change ends the same in other sessions; keep leaves keys or identities',
      'a reset changes nothing before the second factor',
    ],
    ['own keys', "a user's key has the project's data, and what the role has while it has it"],
  ],
  '§13': [
    [
      'change-email',
      'an address is changed by its own link, and the old one is told',
      'an address that was taken meanwhile is no longer one to change to',
    ],
    ['enumeration: strict', 'answers alike for a username or a telephone number that is taken'],
    ['mail to one address', 'sends five mails an hour to one address'],
    ['answered before the account is looked up', 'the medians of known and unknown addresses'],
    [
      'extend that throws',
      'a registration that it fails leaves no user, event or mail',
      'a login that it fails opens no session, and the attempt says why',
    ],
    ['hosting operator', 'a device that signed in counts by itself'],
    [
      'OAuth ?code=',
      'a code is of use in the browser that was sent back',
      'with a code_challenge the code is for whoever has the verifier',
    ],
    [
      'require_api_key',
      'is asked by every route that opens or continues a session',
      'a page asks for the address of the provider with POST',
    ],
    [
      'judging a password',
      'auth/password-work.test.ts: no text makes the estimator work without a bound',
    ],
    [
      'refresh token',
      'a generation that was never handed out is 401 with a right MAC too',
      'one token has one text',
    ],
    ['CORS', 'server/cors.test.ts: a page reads what a sign-in and a limit give'],
    [
      'outgoing addresses',
      'http/private-address.test.ts: 64:ff9b::10.0.0.1',
      'is refused with 400 when it is private, in whatever form it is written',
    ],
    ['the last resort', 'server/last-resort.test.ts: a rejected promise that nothing awaits'],
  ],
  acceptance: [
    [
      '1: no path writes an address',
      'generator/accounts.test.ts: is refused with the fixes, and is good once they are applied',
      'auth/identity.test.ts: are one for an address in all cases of letters, though 50 register',
    ],
    [
      '2: Bob reads a name and changes nothing',
      'auth/identity.test.ts: are read by name and not by address by others',
      'auth/identity.test.ts: are kept in REST as in GraphQL',
    ],
    [
      '3: twenty strangers, one setup link',
      'of twenty who register none gets the first role',
      'nor when roles are switched on later',
      'a start prints a link; its token makes one owner, once',
    ],
    [
      '4: a reset leaves an intruder nothing; the owner lists, revokes and is mailed',
      'a reset leaves an intruder no session, key, device',
      'the owner lists, names and revokes keys, lists and ends identities, and is mailed of each',
    ],
    [
      '5: auth:manage gives no more',
      'a key with auth:manage cannot make itself more, by any call, and nothing changes',
      'cannot be disabled, deleted or given another role',
      'the last owner cannot go, and a deleted owner does not count',
    ],
    [
      '9: two organizations answer each as a server that has only that one',
      'leak/random-tenants.test.ts: two organizations are answered as a server with only that one',
      'leak/tenants.test.ts: answer each as a server that has only that one, on every path',
    ],
    [
      '10: ten acceptances, a sender who lost the right, another address',
      'auth/organizations.test.ts: are joined once, however many accept, by the invited address alone',
    ],
    [
      '13: kill -9 at any moment',
      'of a registration there is all or nothing, the account included',
      'of %s there is all or nothing, and the next server goes on',
      'a purge that is killed is done by the next server',
    ],
  ],
};
