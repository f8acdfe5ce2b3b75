import { describe, afterAll, beforeAll, expect, it } from 'vitest';
import { type Algorithm, type Ceremony, makePasskey, type SoftPasskey } from './authenticator.ts';
import { bearer, describeEachDatabase, startServer, type TestServer, USER } from './harness.ts';

const AT = '/api/auth/passkeys';
const LIFE = 300_000;
const INVALID = '{"error":"Invalid credentials"}';

describeEachDatabase('auth-2 §6 passkeys', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, entity: USER });
  });
  afterAll(() => server.close());

  const signUp = async () => {
    const { body } = await server.register();
    return { id: body.id as number, email: body.email as string, as: bearer(body.accessToken) };
  };
  type Member = Awaited<ReturnType<typeof signUp>>;
  const creation = async ({ as }: Member) =>
    (await server.call('POST', `${AT}/options`, {}, as)).body;
  const add = (member: Member, { created }: SoftPasskey, name?: string) =>
    server.call('POST', AT, { credential: created, ...(name && { name }) }, member.as);
  const enrol = async (member: Member, algorithm: Algorithm = 'ES256') => {
    const passkey = makePasskey(await creation(member), { algorithm });
    expect((await add(member, passkey)).status).toBe(201);
    return passkey;
  };
  const challenge = async () =>
    (await server.call('POST', `${AT}/login/options`)).body.challenge as string;
  const signIn = (credential: object) => server.call('POST', `${AT}/login`, { credential });
  const use = async (passkey: SoftPasskey, more: Partial<Ceremony> = {}) =>
    signIn(passkey.use({ challenge: await challenge(), ...more }));
  const lastReason = async () => {
    const attempts = await server.rows('auth_login_attempts');
    return attempts.sort((a, b) => (a['id'] < b['id'] ? -1 : 1)).at(-1)?.['reason'];
  };

  it('demands a resident key and user verification, no attestation, and names three algorithms', async () => {
    const member = await signUp();
    const options = await creation(member);
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'Testshop' },
      user: { name: member.email },
      timeout: LIFE,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    });
    expect(options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg).sort()).toEqual(
      [-257, -7, -8].sort(),
    );
    expect(Buffer.from(options.user.id, 'base64url')).toHaveLength(32);
    const again = await creation(member);
    expect(again.user.id).toBe(options.user.id);
    expect(again.challenge).not.toBe(options.challenge);
    const other = await creation(await signUp());
    expect(other.user.id).not.toBe(options.user.id);
  });

  it('request options are alike for everybody and name no passkey', async () => {
    const { status, body } = await server.call('POST', `${AT}/login/options`);
    expect([status, Object.keys(body).sort()]).toEqual([
      200,
      ['challenge', 'rpId', 'timeout', 'userVerification'],
    ]);
    expect([body.rpId, body.userVerification]).toEqual(['localhost', 'required']);
  });

  it.each(['ES256', 'EdDSA', 'RS256'] as const)(
    '%s: adds a passkey and signs in with it, without a name',
    async (algorithm) => {
      const member = await signUp();
      const passkey = makePasskey(await creation(member), { algorithm });
      const added = await add(member, passkey, 'My key');
      expect([added.status, added.body]).toEqual([
        201,
        {
          id: passkey.id,
          name: 'My key',
          created_at: expect.any(String),
          last_used_at: null,
          backed_up: false,
          transports: ['internal'],
        },
      ]);
      const login = await use(passkey);
      expect([login.status, login.body.id, login.body.email]).toEqual([
        200,
        member.id,
        member.email,
      ]);
      const me = await server.call(
        'GET',
        '/api/auth/me',
        undefined,
        bearer(login.body.accessToken),
      );
      expect(me.body.id).toBe(member.id);
      const list = await server.call('GET', AT, undefined, member.as);
      expect(list.body).toMatchObject({
        total: 1,
        rp_id: 'localhost',
        passkeys: [{ id: passkey.id }],
      });
      expect(list.body.passkeys[0].last_used_at).toEqual(expect.any(String));
      const [event] = (await server.events('passkey.added')).filter(
        ({ user_id }) => user_id === member.id,
      );
      expect(event).toMatchObject({ data: { passkey_id: passkey.id, name: 'My key' } });
    },
  );

  it('renames and removes; the rest of the world gets 404', async () => {
    const [member, stranger] = [await signUp(), await signUp()];
    const { id } = await enrol(member);
    const renamed = await server.call('PATCH', `${AT}/${id}`, { name: ' Laptop ' }, member.as);
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Laptop']);
    for (const [method, body] of [
      ['PATCH', { name: 'mine' }],
      ['DELETE', undefined],
    ] as const)
      expect((await server.call(method, `${AT}/${id}`, body, stranger.as)).text).toBe(
        '{"error":"Passkey not found"}',
      );
    expect((await server.call('PATCH', `${AT}/${id}`, { name: ' ' }, member.as)).status).toBe(400);
    expect((await server.call('DELETE', `${AT}/${id}`, undefined, member.as)).status).toBe(204);
    expect((await server.call('GET', AT, undefined, member.as)).body.total).toBe(0);
    expect((await server.events('passkey.removed')).at(-1)).toMatchObject({ user_id: member.id });
  });

  const wrong: Record<string, Partial<Ceremony>> = {
    'not verified': { verified: false },
    'not present': { present: false },
    'wrong origin': { origin: 'https://evil.example' },
    'wrong port of the origin': { origin: 'http://localhost:9999' },
    'wrong relying party': { rpId: 'evil.example' },
    'in a frame of another site': { crossOrigin: true },
    'a creation': { type: 'webauthn.create' },
    'no user handle': { userHandle: null },
    'the handle of another': { userHandle: 'AAAA' },
    'no challenge of ours': { challenge: 'AAAA' },
  };
  it.each(Object.entries(wrong))('%s is 401 at the sign-in', async (_, mistake) => {
    const passkey = await enrol(await signUp());
    const answer = await use(passkey, mistake);
    expect([answer.status, answer.text]).toEqual([401, INVALID]);
    expect((await use(passkey)).status).toBe(200);
  });

  it.each(Object.entries(wrong).slice(0, 6))(
    '%s is 401 when a passkey is added',
    async (_, mistake) => {
      const member = await signUp();
      const answer = await add(member, makePasskey(await creation(member), mistake));
      expect([answer.status, answer.text]).toEqual([401, INVALID]);
      expect((await server.call('GET', AT, undefined, member.as)).body.total).toBe(0);
    },
  );

  it('other algorithms, garbage and a changed signature are 401', async () => {
    const member = await signUp();
    expect(
      (await add(member, makePasskey(await creation(member), { algorithm: 'ES384' }))).status,
    ).toBe(401);
    const passkey = await enrol(member);
    const good = passkey.use({ challenge: await challenge() });
    for (const response of [
      { clientDataJSON: 'AAAA' },
      { authenticatorData: 'AAAA' },
      { authenticatorData: '!' },
      { signature: 'AAAA' },
      { signature: '*' },
    ]) {
      const bad = { ...passkey.use({ challenge: await challenge() }) };
      const answer = await signIn({ ...bad, response: { ...bad['response'], ...response } });
      expect([answer.status, answer.text]).toEqual([401, INVALID]);
    }
    expect((await signIn({ ...good, id: 'AAAA', rawId: 'AAAA' })).status).toBe(401);
    const garbage = makePasskey(await creation(member));
    garbage.created['response'].attestationObject = 'AAAA';
    expect((await add(member, garbage)).status).toBe(401);
    expect((await signIn({ id: 'x' })).status).toBe(400);
    expect(server.logs.join('')).not.toContain('"level":50');
  });

  it('an attestation that nobody asked for is not looked at', async () => {
    const member = await signUp();
    const passkey = makePasskey(await creation(member), { format: 'packed' });
    expect((await add(member, passkey)).status).toBe(201);
  });

  it('a challenge works once, for one purpose, for five minutes', async () => {
    const member = await signUp();
    const passkey = await enrol(member);
    const used = passkey.use({ challenge: await challenge() });
    expect((await signIn(used)).status).toBe(200);
    const replayed = await signIn(used);
    expect([replayed.status, replayed.text]).toEqual([401, INVALID]);
    expect(await lastReason()).toBe('bad_challenge');
    const { challenge: ofCreation } = await creation(member);
    expect((await signIn(passkey.use({ challenge: ofCreation, counter: 9 }))).status).toBe(401);
    const options = await creation(member);
    const ofLogin = makePasskey({ ...options, challenge: await challenge() });
    expect((await add(member, ofLogin)).status).toBe(401);
    const other = makePasskey(await creation(await signUp()));
    expect((await add(member, other)).status).toBe(401);
    const late = passkey.use({ challenge: await challenge(), counter: 20 });
    server.advance(LIFE + 1000);
    expect((await signIn(late)).status).toBe(401);
    expect(await lastReason()).toBe('bad_challenge');
  });

  it('of ten uses of one challenge at once one signs in', async () => {
    const passkey = await enrol(await signUp());
    const credential = passkey.use({ challenge: await challenge() });
    const answers = await Promise.all(Array.from({ length: 10 }, () => signIn(credential)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
  });

  it('a counter that does not grow is 401 and the event passkey.cloned; zero for ever is fine', async () => {
    const member = await signUp();
    const passkey = await enrol(member);
    expect((await use(passkey, { counter: 0 })).status).toBe(200);
    expect((await use(passkey, { counter: 0 })).status).toBe(200);
    expect((await use(passkey, { counter: 7 })).status).toBe(200);
    for (const counter of [7, 6, 0]) {
      const copied = await use(passkey, { counter });
      expect([copied.status, copied.text]).toEqual([401, INVALID]);
    }
    expect(await lastReason()).toBe('cloned');
    const events = (await server.events('passkey.cloned')).filter(
      ({ user_id }) => user_id === member.id,
    );
    expect(events.map(({ severity, data }) => [severity, data.counter])).toEqual([
      ['critical', 7],
      ['critical', 6],
      ['critical', 0],
    ]);
    expect((await use(passkey, { counter: 8 })).status).toBe(200);
    const list = await server.call('GET', '/api/auth/sessions', undefined, member.as);
    // The registration, and four sign-ins: none of the copies opened a session.
    expect(list.body.total).toBe(5);
  });

  it('a user has twenty at most, and none twice', async () => {
    const member = await signUp();
    const passkeys = [];
    for (let count = 0; count < 19; count += 1) passkeys.push(await enrol(member));
    const before = await creation(member);
    expect(before.excludeCredentials).toHaveLength(19);
    const twice = makePasskey(before);
    expect((await add(member, twice)).status).toBe(201);
    expect((await server.call('POST', `${AT}/options`, {}, member.as)).status).toBe(409);
    const remove = (id: string) => server.call('DELETE', `${AT}/${id}`, undefined, member.as);
    expect((await remove(passkeys[0]!.id)).status).toBe(204);
    const [row] = await server.kernel.store.db
      .selectFrom('auth_passkeys')
      .selectAll()
      .where('id', '=', twice.id)
      .execute();
    expect(row?.['user_id']).toBe(member.id);
  });

  it('the last way to sign in stays', async () => {
    const member = await signUp();
    const { id } = await enrol(member);
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ password: null })
      .where('user_id', '=', member.id)
      .execute();
    const refused = await server.call('DELETE', `${AT}/${id}`, undefined, member.as);
    expect([refused.status, refused.text]).toEqual([
      409,
      '{"error":"Cannot remove the last sign-in method"}',
    ]);
    expect((await server.call('GET', AT, undefined, member.as)).body.total).toBe(1);
  });

  it('asks for proof to make, rename and remove one', async () => {
    const other = await startServer({ database, entity: USER });
    const { body } = await other.register();
    const as = bearer(body.accessToken);
    const options = (await other.call('POST', `${AT}/options`, {}, as)).body;
    const late = makePasskey(options);
    other.advance(LIFE + 1000);
    for (const [method, path] of [
      ['POST', '/options'],
      ['PATCH', '/x'],
      ['DELETE', '/x'],
    ] as const) {
      const answer = await other.call(
        method,
        AT + path,
        method === 'DELETE' ? undefined : { name: 'a' },
        as,
      );
      expect([answer.status, answer.text]).toEqual([403, '{"error":"Reauthentication required"}']);
    }
    const dead = await other.call('POST', AT, { credential: late.created }, as);
    expect([dead.status, dead.text]).toEqual([401, INVALID]);
    await other.close();
  });

  it('a disabled user is refused like any failure, and a deleted one has no passkey', async () => {
    const member = await signUp();
    const passkey = await enrol(member);
    const disable = (disabled_at: number | null) =>
      server.kernel.store.db
        .updateTable('auth_users')
        .set({ disabled_at })
        .where('user_id', '=', member.id)
        .execute();
    await disable(1);
    const refused = await use(passkey);
    expect([refused.status, refused.text, await lastReason()]).toEqual([401, INVALID, 'disabled']);
    await disable(null);
    expect((await use(passkey)).status).toBe(200);
    await server.kernel.store.db.deleteFrom('users').where('id', '=', member.id).execute();
    const rows = await server.rows('auth_passkeys');
    expect(rows.filter(({ user_id }) => user_id === member.id)).toEqual([]);
    expect((await use(passkey)).status).toBe(401);
  });
});

describe('auth-2 §6 passkeys in the manifest', () => {
  it('passkeys: false: their routes do not exist', async () => {
    const server = await startServer({
      database: 'SQLite',
      entity: USER,
      auth: { passkeys: false },
    });
    for (const path of ['/options', '/login/options', '/login', ''])
      expect((await server.call('POST', AT + path, {})).status).toBe(404);
    await server.close();
  });

  it('a relying party or an origin that a browser would refuse stops the start, named', async () => {
    const start = (passkeys: { rpId: string | null; origins: string[] }) =>
      startServer({
        database: 'SQLite',
        entity: USER,
        auth: { passkeys },
        env: { APP_URL: 'https://app.shop.example' },
      });
    await expect(start({ rpId: 'other.example', origins: [] })).rejects.toThrow(
      /auth\.passkeys\.rp_id/,
    );
    for (const origin of [
      'https://evil.example',
      'http://shop.example',
      'https://shop.example/path',
      'shop',
    ])
      await expect(start({ rpId: 'shop.example', origins: [origin] })).rejects.toThrow(
        /auth\.passkeys\.origins/,
      );
    const server = await start({ rpId: 'shop.example', origins: ['https://www.shop.example'] });
    expect((await server.call('POST', `${AT}/login/options`)).body.rpId).toBe('shop.example');
    await server.close();
  });
});
