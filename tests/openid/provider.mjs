/** An OpenID provider on loopback for the tests; prints its issuer once it listens. It accepts any account name without a password. */

import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const given = JSON.parse(process.argv[2]);

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: given.client_id,
        client_secret: given.client_secret,
        redirect_uris: given.redirect_uris,
        post_logout_redirect_uris: given.post_logout_redirect_uris,
      },
    ],
    claims: { openid: ["sub"], profile: ["preferred_username", "name"], groups: ["groups"] },
    cookies: { keys: ["of the tests alone"] },
    findAccount: (_context, id) => {
      const claims = given.accounts[id];
      return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) };
    },
    jwks: { keys: [{ ...key, use: "sig", alg: "RS256" }] },
    pkce: { required: () => true },
  });
  server.on("request", provider.callback());
  process.stdout.write(`${issuer}\n`);
});
