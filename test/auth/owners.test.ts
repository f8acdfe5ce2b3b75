import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_KEY, asRoot, bearer, describeEachDatabase, type TestServer, USER } from './harness.ts';
import { ADMIN, startOwned } from './owned.ts';

describeEachDatabase(
  '§2.13, auth-2 acceptance 5: nobody gives what they do not hold',
  (database) => {
    let server: TestServer;
    let owner: Record<string, any>;
    const call = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
      server.call(method, ADMIN + path, body, headers);
    const keyOf = async (scopes: readonly string[], more: object = {}) => {
      const made = await call('POST', '/api-keys', { name: 'k', scopes, ...more }, asRoot);
      return { id: made.body.id as string, header: { 'X-API-Key': made.body.key as string } };
    };
    beforeAll(async () => {
      ({ server, owner } = await startOwned(database));
    });
    afterAll(() => server.close());

    it('a key with auth:manage cannot make itself more, by any call, and nothing changes', async () => {
      const { header } = await keyOf(['auth:manage']);
      const strong = await keyOf(['*']);
      const data = await keyOf(['users:read']);
      const { body: member } = await server.register('member@x.test');
      const { body: wide } = await call(
        'POST',
        '/roles',
        { name: 'Wide', permissions: ['*'] },
        asRoot,
      );
      const { body: plain } = await call('POST', '/roles', { name: 'Plain' }, asRoot);
      const tables = [
        'auth_users',
        'auth_api_keys',
        'auth_roles',
        'auth_role_permissions',
        'users',
      ];
      const state = async () =>
        JSON.stringify(
          await Promise.all(
            [...tables, 'auth_permission_changes'].map(async (table) =>
              (await server.rows(table))
                .map((row) => JSON.stringify({ ...row, last_used_at: null }))
                .sort(),
            ),
          ),
        );
      const before = await state();
      const tries: readonly (readonly [string, string, unknown?])[] = [
        ['POST', '/api-keys', { name: 'k', scopes: ['*'] }],
        ['POST', '/api-keys', { name: 'k', scopes: ['auth:*'] }],
        ['POST', '/api-keys', { name: 'k', scopes: ['*:read'] }],
        ['POST', '/api-keys', { name: 'k', scopes: ['auth:manage'], user_id: owner['id'] }],
        ['POST', '/api-keys', { name: 'k', scopes: [], user_id: owner['id'] }],
        ['PATCH', `/api-keys/${data.id}`, { scopes: ['*'] }],
        ['PATCH', `/api-keys/${strong.id}`, { scopes: ['auth:manage'] }],
        ['POST', `/api-keys/${strong.id}/rotate`],
        ['POST', `/api-keys/${data.id}/rotate`],
        ['DELETE', `/api-keys/${strong.id}`],
        ['POST', '/roles', { name: 'Mine', permissions: ['*'] }],
        ['PUT', `/roles/${plain.id}/permissions/*`],
        ['PUT', `/roles/${plain.id}/permissions/apps:write`],
        ['DELETE', `/roles/${wide.id}/permissions/*`],
        ['PUT', `/roles/${wide.id}`, { name: 'Narrow' }],
        ['DELETE', `/roles/${wide.id}`],
        ['PUT', `/users/${member.id}/role`, { role_id: 1 }],
        ['PUT', `/users/${member.id}/role`, { role_id: wide.id }],
        ['PUT', `/users/${owner['id']}/role`, { role_id: 3 }],
        ['PUT', `/users/${owner['id']}/role`, { role_id: null }],
        ['POST', `/users/${owner['id']}/disable`],
        ['POST', `/users/${owner['id']}/enable`],
        ['POST', `/users/${owner['id']}/disable`, { until: '2100-01-01T00:00:00Z' }],
        ['POST', `/users/${owner['id']}/require-password-change`],
        ['DELETE', `/users/${owner['id']}/second-factor`],
        ['POST', `/users/${owner['id']}/impersonate`, { reason: 'x' }],
        ['POST', `/users/${member.id}/impersonate`, { reason: 'x' }],
        ['POST', `/users/${owner['id']}/unlock`],
        ['POST', `/users/${owner['id']}/reset-password`],
        ['DELETE', `/users/${owner['id']}/sessions`],
        ['DELETE', `/users/${owner['id']}`],
        ['POST', '/tokens/revoke', { user_id: owner['id'] }],
        ['POST', '/tokens/revoke', { token: owner['accessToken'] }],
      ];
      for (const [method, path, body] of tries)
        expect([method, path, (await call(method, path, body, header)).text]).toEqual([
          method,
          path,
          '{"error":"Forbidden"}',
        ]);
      expect(await state()).toBe(before);
      expect(
        (await server.call('GET', '/api/auth/me', undefined, bearer(owner['accessToken']))).status,
      ).toBe(200);
      // What it holds it may give, and it manages people who hold no more.
      expect(
        (await call('POST', '/api-keys', { name: 'k', scopes: ['auth:manage'] }, header)).status,
      ).toBe(201);
      expect((await call('POST', `/users/${member.id}/disable`, undefined, header)).status).toBe(
        200,
      );
      expect(
        (await call('PUT', `/users/${member.id}/role`, { role_id: plain.id }, header)).status,
      ).toBe(200);
      expect((await call('DELETE', `/api-keys/${data.id}`, undefined, header)).status).toBe(204);
    });

    it('the same for a user whose role has auth:manage', async () => {
      const { body: user } = await server.register('manager@x.test');
      await call('PUT', '/roles/2/permissions/auth:manage', undefined, asRoot);
      await call('PUT', `/users/${user.id}/role`, { role_id: 2 }, asRoot);
      const headers = bearer((await server.login('manager@x.test')).body.accessToken);
      for (const [method, path, body] of [
        ['PUT', `/users/${user.id}/role`, { role_id: 1 }],
        ['PUT', '/roles/2/permissions/*', undefined],
        ['POST', '/api-keys', { name: 'k', scopes: ['*'] }],
        ['DELETE', `/users/${owner['id']}`, undefined],
      ] as const)
        expect([path, (await call(method, path, body, headers)).status]).toEqual([path, 403]);
      const own = await server.call(
        'POST',
        '/api/auth/api-keys',
        { name: 'k', scopes: ['auth:manage'] },
        headers,
      );
      expect(own.status).toBe(201);
    });

    it('GET in management takes auth:read, and no other call does', async () => {
      for (const scope of ['auth:read', '*:read']) {
        const { header } = await keyOf([scope]);
        for (const path of ['/roles', '/api-keys', '/login-attempts', `/users/${owner['id']}`])
          expect([path, (await call('GET', path, undefined, header)).status]).toEqual([path, 200]);
        expect((await call('POST', '/roles', { name: 'No' }, header)).status).toBe(403);
        expect((await call('POST', '/introspect', { token: 'x' }, header)).status).toBe(403);
      }
    });

    it("a user's key has the project's data, and what the role has while it has it", async () => {
      const { body: user } = await server.register('keys@x.test');
      const make = (scopes: readonly string[], token: string) =>
        server.call('POST', '/api/auth/api-keys', { name: 'mine', scopes }, bearer(token));
      const given = { name: 'k', user_id: user.id };
      for (const scope of ['users:read', 'users:write', 'users:*', 'mcp:read', 'mcp:write']) {
        const scopes = [scope, 'users:read'];
        expect((await make(scopes, user.accessToken)).status).toBe(201);
        expect((await call('POST', '/api-keys', { ...given, scopes }, asRoot)).status).toBe(201);
      }
      for (const scope of [
        '*',
        '*:read',
        'mcp:call',
        'auth:read',
        'auth:manage',
        'users:publish',
        'reports:read',
      ])
        expect([scope, (await make([scope], user.accessToken)).status]).toEqual([scope, 403]);
      const { body: role } = await call(
        'POST',
        '/roles',
        { name: 'Reader', permissions: ['auth:read'] },
        asRoot,
      );
      await call('PUT', `/users/${user.id}/role`, { role_id: role.id }, asRoot);
      const again = await server.login('keys@x.test');
      const { body: key } = await make(['auth:read', 'users:read'], again.body.accessToken);
      const uses = async () =>
        (await call('GET', '/roles', undefined, { 'X-API-Key': key.key })).status;
      expect(await uses()).toBe(200);
      await call('DELETE', `/roles/${role.id}/permissions/auth:read`, undefined, asRoot);
      expect(await uses()).toBe(403);
      await call('PUT', `/roles/${role.id}/permissions/auth:*`, undefined, asRoot);
      expect(await uses()).toBe(200);
      await call('PUT', `/users/${user.id}/role`, { role_id: null }, asRoot);
      expect(await uses()).toBe(403);
      const made = await call(
        'POST',
        '/api-keys',
        { name: 'k', scopes: ['auth:read'], user_id: user.id },
        asRoot,
      );
      expect([made.status, made.body.error]).toEqual([400, expect.stringContaining('auth:read')]);
    });

    it('a key beside a bearer token gives what both hold together', async () => {
      const { body } = await server.register('both@x.test');
      const headers = { ...bearer(body.accessToken), 'X-API-Key': API_KEY };
      expect((await call('POST', '/api-keys', { name: 'k', scopes: ['*'] }, headers)).status).toBe(
        201,
      );
    });
  },
);

describeEachDatabase('§2.13 the last owner', (database) => {
  it('cannot be disabled, deleted or given another role; a second one makes that possible', async () => {
    const { server, owner } = await startOwned(database);
    const tries: readonly (readonly [string, string, unknown?])[] = [
      ['POST', `/users/${owner.id}/disable`],
      ['PUT', `/users/${owner.id}/role`, { role_id: 3 }],
      ['PUT', `/users/${owner.id}/role`, { role_id: null }],
      ['DELETE', `/users/${owner.id}`],
    ];
    const tryAll = async () => {
      for (const [method, path, body] of tries)
        expect([path, (await server.call(method, ADMIN + path, body, asRoot)).text]).toEqual([
          path,
          '{"error":"Cannot remove the last owner"}',
        ]);
    };
    await tryAll();
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(owner.accessToken))).status,
    ).toBe(200);
    const { body: second } = await server.register('second@x.test');
    await server.call('PUT', `${ADMIN}/users/${second.id}/role`, { role_id: 1 }, asRoot);
    await server.call('POST', `${ADMIN}/users/${second.id}/disable`, undefined, asRoot);
    // Who is disabled cannot sign in, and so is nobody to rely on.
    await tryAll();
    await server.call('POST', `${ADMIN}/users/${second.id}/enable`, undefined, asRoot);
    expect(
      (await server.call('DELETE', `${ADMIN}/users/${owner.id}`, undefined, asRoot)).status,
    ).toBe(204);
    await server.close();
  });

  it('is kept by the database, whoever deletes the row, also of two at once', async () => {
    const { server, owner } = await startOwned(database);
    const { db } = server.kernel.store;
    await expect(db.deleteFrom('users').where('id', '=', owner.id).execute()).rejects.toThrow(
      'Cannot remove the last owner',
    );
    expect(await server.rows('auth_users')).toHaveLength(1);
    const { body: second } = await server.register('second@x.test');
    await server.call('PUT', `${ADMIN}/users/${second.id}/role`, { role_id: 1 }, asRoot);
    const answers = await Promise.all(
      [owner.id, second.id].map((id) =>
        server.call('DELETE', `${ADMIN}/users/${id}`, undefined, asRoot),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
    await expect(db.deleteFrom('users').execute()).rejects.toThrow('Cannot remove the last owner');
    expect(await server.rows('users')).toHaveLength(1);
    await server.close();
  });

  it('is kept where a delete only marks the row', async () => {
    const marked = {
      ...USER,
      softDelete: 'deleted_at',
      columns: [
        ...USER.columns,
        {
          ...USER.columns[1]!,
          name: 'deleted_at',
          field: 'deletedAt',
          required: false,
          type: 'timestamp' as const,
        },
      ],
    };
    const { server, owner } = await startOwned(database, { entity: marked });
    const gone = (id: number) => server.call('DELETE', `${ADMIN}/users/${id}`, undefined, asRoot);
    expect((await gone(owner.id)).text).toBe('{"error":"Cannot remove the last owner"}');
    const { body: second } = await server.register('second@x.test');
    await server.call('PUT', `${ADMIN}/users/${second.id}/role`, { role_id: 1 }, asRoot);
    expect((await gone(second.id)).status).toBe(204);
    expect((await gone(owner.id)).status).toBe(409);
    expect(
      (await server.call('POST', `${ADMIN}/users/${owner.id}/disable`, undefined, asRoot)).status,
    ).toBe(409);
    await server.close();
  });
});
