import type { DataOf } from "../../kernel/domain/domain-event.ts";
import type { Acting, Role } from "../../kernel/domain/roles.ts";
import type { NewValues } from "../../kernel/domain/settings.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { TenantEvent, TenantSettings, UserStatus } from "./facts.ts";

/** The user or service account on whose behalf a command runs, as its verified credential says. */
export interface ActingUser extends Acting {
  /** Absent of a service account. */
  readonly userId?: string;
}

/** `reservation`: the name of the reservation that holds the new name or email for this command. */
export type TenantCommand =
  | {
      readonly type: "CreateTenant";
      readonly tenant: Omit<DataOf<TenantEvent, "TenantCreated">, "at">;
      readonly owner: UserData;
      readonly at: Timestamp;
    }
  | NewValues<TenantSettings> & {
      readonly type: "ChangeTenant";
      readonly by: ActingUser;
      readonly reservation?: string | undefined;
      readonly at: Timestamp;
    }
  | {
      readonly type: "RegenerateWebhookSecret";
      readonly by: ActingUser;
      readonly webhookSecret: string;
      readonly webhookSecretFingerprint: string;
      readonly at: Timestamp;
    }
  | {
      readonly type: "CreateUser";
      readonly by: ActingUser;
      readonly user: UserData & { readonly role: Role };
      readonly reservation?: string | undefined;
      readonly at: Timestamp;
    }
  /** Makes an invited person a user: the caller knows the invite's token. */
  | {
      readonly type: "RegisterUser";
      readonly user: UserData & { readonly role: Role };
      readonly reservation?: string | undefined;
      readonly at: Timestamp;
    }
  | {
      readonly type: "ChangeUser";
      readonly by: ActingUser;
      readonly userId: string;
      readonly email?: { readonly sealed: string; readonly hash: string } | undefined;
      readonly reservation?: string | undefined;
      /** Present only when it changes. */
      readonly passwordHash?: string | undefined;
      readonly role?: Role | undefined;
      readonly status?: UserStatus | undefined;
      readonly at: Timestamp;
    }
  | { readonly type: "DeleteUser"; readonly by: ActingUser; readonly userId: string; readonly at: Timestamp }
  /** The addresses of a deleted user cannot be unsealed any more. */
  | { readonly type: "ForgetUser"; readonly userId: string; readonly at: Timestamp }
  /** An operator lets an Owner in again. */
  | {
      readonly type: "ResetOwnerPassword";
      readonly userId: string;
      readonly passwordHash: string;
      readonly at: Timestamp;
    }
  /** `from`: the wrapped data key that `dataKey` replaces. */
  | { readonly type: "RewrapDataKey"; readonly from: string; readonly dataKey: string; readonly at: Timestamp }
  /** The tenant is about to be erased: up to `most` more of its active users, of any role, can no longer log in. */
  | { readonly type: "DeactivateUsers"; readonly most: number; readonly at: Timestamp }
  | { readonly type: "EraseTenant"; readonly at: Timestamp };

interface UserData {
  readonly userId: string;
  /** Sealed under the person's key. */
  readonly email: string;
  readonly emailHash: string;
  readonly passwordHash: string;
}
