export interface paths {
    "/api/v1/agent/enroll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["enroll_agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/standing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_standing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/hello": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["greet_agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/rotation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotate_credentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/rotation/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["confirm_credentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/orders/{order_id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["claim_order"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/beat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["take_heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["take_batch_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/orders/{order_id}/artefacts/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["put_artefact"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agent/orders/{order_id}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["finish_order"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_alive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/ways": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_sign_in_ways"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["sign_in_by_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_session"];
        put?: never;
        post: operations["sign_in"];
        delete: operations["sign_out"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["set_password"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete: operations["end_other_sessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["end_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user_id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["end_sessions_of_user"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user_id}/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["reset_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/provider": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["go_to_provider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/provider/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["come_back_from_provider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_tokens"];
        put?: never;
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["confirm_login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_users"];
        put?: never;
        post: operations["create_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_user"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user_id}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["make_sign_in_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["export_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_clusters"];
        put?: never;
        post: operations["create_cluster"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_cluster"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["change_cluster"];
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/blackouts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_maintenance_windows"];
        put?: never;
        post: operations["create_maintenance_window"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/blackouts/{blackout_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["remove_maintenance_window"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/join-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_join_tokens"];
        put?: never;
        post: operations["create_join_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/join-tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revoke_join_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node_id}/join-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["create_reenrolment_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/pending-nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_pending_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/pending-nodes/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["approve_pending_nodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/pending-nodes/refuse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["refuse_pending_nodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_cluster_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_node"];
        put?: never;
        post?: never;
        delete: operations["retire_node"];
        options?: never;
        head?: never;
        patch: operations["change_node"];
        trace?: never;
    };
    "/api/v1/nodes/{node_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotate_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/drains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_drains"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["drain_everything"];
        post?: never;
        delete: operations["resume_everything"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["drain_cluster"];
        post?: never;
        delete: operations["resume_cluster"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node_id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["drain_node"];
        post?: never;
        delete: operations["resume_node"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_targets"];
        put?: never;
        post: operations["create_target"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/candidates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_candidates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/facts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_target_facts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/backed-by": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["set_backing"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_target"];
        put?: never;
        post?: never;
        delete: operations["retire_target"];
        options?: never;
        head?: never;
        patch: operations["change_target"];
        trace?: never;
    };
    "/api/v1/targets/{target_id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["drain_target"];
        post?: never;
        delete: operations["resume_target"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/scratch-sets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_scratch_sets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/scratch-sets/{set_id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["enable_scratch_set"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/scratch-sets/{set_id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["disable_scratch_set"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stripes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["show_stripes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_workloads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_campaigns"];
        put?: never;
        post: operations["submit_campaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaign-groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_campaign_groups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_campaign"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["change_campaign"];
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_campaign_timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/repeats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["add_campaign_repeats"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_campaign_pause"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/pause/look": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["look_at_campaign_pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["confirm_campaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancel_campaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["preview_campaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/cells": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_campaign_cells"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/conduct": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_campaign_conduct"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaign-headlines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_campaign_headlines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/measures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_campaign_measures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/measurements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_campaign_measurements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/samples.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_campaign_samples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_schedules"];
        put?: never;
        post: operations["create_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["preview_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_schedule"];
        put: operations["change_schedule"];
        post?: never;
        delete: operations["remove_schedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/firings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["pause_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resume_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["run_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["duplicate_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_templates"];
        put?: never;
        post: operations["create_template"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/templates/{template_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_template"];
        put?: never;
        post?: never;
        delete: operations["remove_template"];
        options?: never;
        head?: never;
        patch: operations["change_template"];
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancel_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["retry_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_run_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_queue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node_id}/dead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_death_statement"];
        put?: never;
        post: operations["declare_node_dead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node_id}/stuck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_stuck_statement"];
        put?: never;
        post: operations["free_stuck_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node_id}/revocation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_revocation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node_id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["revoke_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/series/{series_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_samples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/curves": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_run_curves"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/counters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_run_counters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/readings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["read_run_again"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readings/{reading_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_reading"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{run_id}/artefacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_run_artefacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artefacts/{artefact_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_artefact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/surface-sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_surface_sources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/surface": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_surface"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/report.pdf": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_campaign_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/comparison/report.pdf": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_comparison_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/series/{series_id}/points": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_series_points"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/points": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_points"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/series/{series_id}/analysis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_series_analysis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trend-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_events"];
        put?: never;
        post: operations["create_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trend-events/{event_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["remove_event"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/comparison": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_comparison"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/comparison/sides": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_sides"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/peers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_cluster_peers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/targets/{target_id}/advice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_target_advice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/campaigns/{campaign_id}/advice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_campaign_advice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_alert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["act_on_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/mute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["mute_alert"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_alert_rules"];
        put?: never;
        post: operations["create_alert_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-rules/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_alert_rule"];
        put: operations["change_alert_rule"];
        post?: never;
        delete: operations["remove_alert_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_incidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/incidents/{incident_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_incident"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/incidents/{incident_id}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["act_on_incident"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/explorer/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["explore_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/explorer/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["count_explored_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/explorer/sparklines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_sparklines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/explorer/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["search_names"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/explorer/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_saved_views"];
        put?: never;
        post: operations["keep_saved_view"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/explorer/views/{view_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_saved_view"];
        post?: never;
        delete: operations["remove_saved_view"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/board": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_board"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/board/throughput": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_throughput"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/board/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_metric_board"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_channels"];
        put?: never;
        post: operations["create_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{channel_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_channel"];
        put: operations["change_channel"];
        post?: never;
        delete: operations["remove_channel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{channel_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{channel_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["test_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/published-sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_published_sources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["stream_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActiveOrderOutput: {
            order_id: number;
            run_id: number;
            state: string;
            progress: number | null;
            phase: string;
        };
        AdaptiveProgress: {
            until_ratio: number;
            open: number;
            narrow: number;
            most: number;
            budget: number;
            failed: number;
            gone: number;
            cancelled: number;
            words: string;
        };
        AdaptiveRepeats: {
            until_ratio: number;
            seconds?: number | null;
        };
        AddedRepeats: {
            /** Format: date-time */
            added_at: string;
            added_by: string | null;
            repeats: number;
            cells: number;
        };
        AdviceEvidence: {
            name: string;
            value: string | number | boolean | null;
            unit: components["schemas"]["Unit"] | null;
            run_ids: number[];
        };
        AdviceLook: {
            looks_at: string;
            fine: string[];
            advised: number;
            not_known: number;
        };
        AdviceNotKnown: {
            code: string;
            subjects: string[];
            because: string;
        };
        AdviceOutput: {
            code: string;
            severity: components["schemas"]["Severity"];
            subjects: string[];
            title: string;
            explanation: string;
            evidence: components["schemas"]["AdviceEvidence"][];
            remedy: string;
            commands: string[];
            source: string;
        };
        AdviceReport: {
            advice: components["schemas"]["AdviceOutput"][];
            not_known: components["schemas"]["AdviceNotKnown"][];
            looked_at: components["schemas"]["AdviceLook"][];
            places: number;
            cells: number;
            is_cut: boolean;
        };
        /** @enum {string} */
        AgentStanding: "current" | "behind" | "too_old" | "too_new" | "unknown";
        AlertActionInput: {
            action: components["schemas"]["Move"];
            /** @default  */
            comment: string;
            owner?: string | null;
            due_at?: string | null;
            event_id?: number | null;
        };
        AlertActionOutput: {
            id: number;
            /** Format: date-time */
            at: string;
            who: string | null;
            action: string;
            comment: string;
            before: {
                [key: string]: unknown;
            };
            after: {
                [key: string]: unknown;
            };
        };
        AlertDetail: {
            alert: components["schemas"]["AlertOutput"];
            actions: components["schemas"]["AlertActionOutput"][];
            group: components["schemas"]["AlertOutput"][];
        };
        AlertGroupRef: {
            id: number;
            is_environment: boolean;
            told_at: string | null;
        };
        AlertOutput: {
            id: number;
            cluster_id: number;
            cluster_name: string;
            /** @enum {string} */
            kind: "change" | "stale";
            state: components["schemas"]["AlertState"];
            series: components["schemas"]["AlertSeries"];
            direction: components["schemas"]["Direction"] | null;
            words: string;
            /** Format: date-time */
            at: string;
            change: components["schemas"]["SeriesChange"] | null;
            silent_since: string | null;
            schedule_id: number | null;
            rule: components["schemas"]["RuleRef"] | null;
            group: components["schemas"]["AlertGroupRef"] | null;
            /** Format: date-time */
            raised_at: string;
            owner: string | null;
            due_at: string | null;
            event: components["schemas"]["EventOutput"] | null;
            closed_because: string | null;
            baseline_at: string | null;
            confirmation_id: number | null;
            moves: components["schemas"]["Move"][];
        };
        AlertRuleInput: {
            name: string;
            cluster: string;
            target?: string | null;
            workload?: string | null;
            metric?: string | null;
            /** @default 0.03 */
            least_shift_ratio: number;
            /** @default worse */
            directions: components["schemas"]["Directions"];
            channel_ids?: number[];
            /** @default true */
            missing_runs: boolean;
            control_workload?: string | null;
            muted_until?: string | null;
        };
        AlertRuleOutput: {
            id: number;
            cluster_id: number;
            cluster_name: string;
            name: string;
            target: components["schemas"]["TargetRef"] | null;
            workload: string | null;
            metric: string | null;
            least_shift_ratio: number;
            directions: components["schemas"]["Directions"];
            channel_ids: number[];
            missing_runs: boolean;
            control_workload: string | null;
            muted_until: string | null;
            /** Format: date-time */
            created_at: string;
            open_alerts: number;
        };
        AlertSeries: {
            id: number;
            workload: string;
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            node_names: string[];
            target_names: string[];
            muted_until: string | null;
        };
        /** @enum {string} */
        AlertState: "suspect" | "untriaged" | "acknowledged" | "investigating" | "expected" | "noise" | "wont_fix" | "fixed" | "verified" | "recovered" | "closed";
        /** @enum {string} */
        Alignment: "default" | "aligned" | "unaligned";
        Alive: {
            /** @constant */
            status: "alive";
        };
        ArtefactFact: {
            name: string;
            sha256: string;
            size_bytes: number;
        };
        ArtefactOutput: {
            id: number;
            name: string;
            order_id: number;
            sha256: string;
            size_bytes: number;
        };
        AttemptOutput: {
            ordinal: number;
            state: components["schemas"]["AttemptState"];
            /** Format: date-time */
            opened_at: string;
            go_at: string | null;
            start_skew_seconds: number | null;
            ended_at: string | null;
            reason: string | null;
            batch_job: components["schemas"]["BatchJobOutput"] | null;
            orders: components["schemas"]["RunOrder"][];
        };
        /** @enum {string} */
        AttemptState: "open" | "finished" | "failed" | "cancelled" | "declined" | "lost";
        AttentionItem: {
            /** @enum {string} */
            kind: "stuck_node" | "vanished_target" | "lost_mount" | "failing_schedule" | "overdue_schedule" | "open_incidents" | "silent_nodes" | "outlier_node" | "outlier_target" | "stale_series";
            cluster_id: number;
            words: string;
            remedy: string;
            since: string | null;
            schedule_id: number | null;
            target_id: number | null;
            node_id: number | null;
            series: components["schemas"]["SeriesOutput"] | null;
            series_count: number;
            workload: string | null;
        };
        AuditEntryOutput: {
            id: number;
            /** Format: date-time */
            at: string;
            principal_kind: components["schemas"]["PrincipalKind"];
            principal_id: number | null;
            principal_name: string;
            address: string | null;
            action: string;
            subject_kind: string;
            subject_id: number | null;
            cluster_id: number | null;
            before: {
                [key: string]: unknown;
            } | null;
            after: {
                [key: string]: unknown;
            } | null;
        };
        /** @enum {string} */
        AuditFile: "csv" | "jsonl";
        BackingInput: {
            targets: number[];
        };
        /** @enum {string} */
        Basis: "runs" | "pairs" | "makes" | "one_make" | "days" | "history" | "workload" | "one_day";
        BatchJobOutput: {
            system: components["schemas"]["BatchSystem"];
            /** @enum {string} */
            state: "wanted" | "pending" | "running" | "ended";
            job_id: string | null;
            ending: string | null;
            words: string;
            started_at: string | null;
        };
        BatchReply: {
            submit: components["schemas"]["WantedJob"][];
            cancel: string[];
            hello_wanted: boolean;
            /** @default false */
            rotation_wanted: boolean;
        };
        BatchReport: {
            agent_instance: string;
            system: components["schemas"]["BatchSystem"];
            problem: string | null;
            jobs: components["schemas"]["SeenJob"][];
            hosts: components["schemas"]["SeenHost"][];
            refused: components["schemas"]["RefusedJob"][];
            clock?: components["schemas"]["ClockReading"] | null;
        };
        /** @enum {string} */
        BatchSystem: "slurm" | "lsf" | "pbs" | "flux";
        /** @enum {string} */
        Bitmap: "none" | "internal";
        BlackoutInput: {
            /** Format: date-time */
            starts_at: string;
            /** Format: date-time */
            ends_at: string;
            reason: string;
        };
        BlackoutOutput: {
            id: number;
            cluster_id: number;
            /** Format: date-time */
            starts_at: string;
            /** Format: date-time */
            ends_at: string;
            reason: string;
            /** Format: date-time */
            created_at: string;
        };
        Board: {
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            clusters: components["schemas"]["BoardCluster"][];
            workloads: string[];
            cells: components["schemas"]["BoardCell"][];
            attention: components["schemas"]["AttentionItem"][];
            attention_left_out: number;
            is_cut: boolean;
        };
        BoardCell: {
            cluster_id: number;
            workload: string;
            state: components["schemas"]["SeriesState"];
            since: string | null;
            counts: components["schemas"]["StandingCount"][];
            worst: components["schemas"]["SeriesOutput"];
            since_cell_id: number | null;
            shift_ratio: number | null;
            words: string;
            line: string;
            trend: components["schemas"]["CellTrend"];
            suspects: number;
            open_incidents: number;
            /** Format: date-time */
            last_at: string;
        };
        BoardCluster: {
            id: number;
            name: string;
            nodes: components["schemas"]["BoardNodes"];
            targets: number;
            open_incidents: number;
        };
        BoardNodes: {
            online: number;
            stuck: number;
            silent: number;
            never_seen: number;
            drained: number;
            passed_over: number;
        };
        BrokerAccess: {
            url: string;
            queue: string;
            ca_pem: string | null;
        };
        BrowserSession: {
            id: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_seen_at: string;
            /** Format: date-time */
            expires_at: string;
            address: string | null;
            browser: string | null;
            /** @enum {string} */
            begun_by: "link" | "password" | "provider";
            is_this_one: boolean;
        };
        BrowserSessions: {
            items: components["schemas"]["BrowserSession"][];
        };
        /** @enum {string} */
        BtrfsProfile: "single" | "dup" | "raid0" | "raid1" | "raid1c3" | "raid1c4" | "raid10" | "raid5" | "raid6";
        /** @enum {string} */
        CachePolicy: "drop" | "remount" | "larger_than_memory" | "none";
        CacheSize: {
            name: string;
            size_bytes: number;
        };
        Calendar: {
            cron?: string | null;
            monthly?: string | null;
            time_zone: string;
            /** @default 0 */
            random_offset_seconds: number;
            ends_at?: string | null;
            max_firings?: number | null;
        };
        CalendarPreview: {
            cron: string;
            words: string;
            firings: string[];
        };
        CallerOutput: {
            kind: components["schemas"]["PrincipalKind"];
            id: number | null;
            name: string;
            roles: components["schemas"]["RoleGrantOutput"][];
        };
        CampaignComparison: {
            pairs: components["schemas"]["ComparedPair"][];
            only_a: number[];
            only_b: number[];
        };
        CampaignGroup: {
            newest: components["schemas"]["ListedCampaign"];
            schedule: components["schemas"]["CampaignsOfSchedule"] | null;
        };
        CampaignHeadline: {
            campaign_id: number;
            ordinal: number;
            series_id: number;
            workload: string;
            target_names: string[];
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            n: number;
            median: number;
            low: number;
            high: number;
            flags: string[];
            usual_flags: string[];
            previous: components["schemas"]["PreviousHeadline"] | null;
        };
        CampaignHeadlines: {
            items: components["schemas"]["CampaignHeadline"][];
        };
        CampaignMeasures: {
            metrics: components["schemas"]["CampaignMetric"][];
            counters: string[];
        };
        CampaignMetric: {
            workload: string;
            metric: string;
            title: string;
            description: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: string[];
            is_primary: boolean;
        };
        CampaignOutput: {
            id: number;
            name: string;
            cluster_id: number;
            cluster_name: string;
            owner: string | null;
            schedule_id: number | null;
            schedule_name: string | null;
            plan: components["schemas"]["CampaignPlan"];
            state: components["schemas"]["CampaignState"];
            /** Format: date-time */
            created_at: string;
            ended_at: string | null;
            counts: components["schemas"]["RunCounts"];
            preparations: components["schemas"]["PreparationCounts"][];
            stages: components["schemas"]["Stage"][];
            additions: components["schemas"]["AddedRepeats"][];
            adaptive: components["schemas"]["AdaptiveProgress"] | null;
            next_release_at: string | null;
            progress: number;
            seconds_remaining_estimated: number | null;
            previous_campaign_id: number | null;
        };
        CampaignPatch: {
            priority: number;
        };
        CampaignPlan: {
            name: string;
            cluster: string;
            nodes: string[];
            /** @default false */
            nodes_at_once: boolean | number[];
            observers?: string[];
            targets: string[];
            /** @default false */
            targets_at_once: boolean;
            workloads: components["schemas"]["WorkloadChoice"][];
            /** @default 4 */
            repeats: number;
            adaptive?: components["schemas"]["AdaptiveRepeats"] | null;
            spread_seconds?: number | null;
            /** @default node */
            exclusive: components["schemas"]["Exclusivity"];
            /** @default drop */
            cache: components["schemas"]["CachePolicy"];
            /** @default 0 */
            cool_down_seconds: number;
            /** @default flag */
            quiet: components["schemas"]["QuietPolicy"];
            /** @default 60 */
            quiet_wait_seconds: number;
            /** @default 3600 */
            time_limit_seconds: number;
            window?: components["schemas"]["Window"] | null;
            stages?: components["schemas"]["PlannedStage"][];
            scratch?: components["schemas"]["ScratchPlan"] | null;
            /** @default 2 */
            attempts_allowed: number;
            /** @default 0 */
            priority: number;
            /** @default  */
            note: string;
        };
        /** @enum {string} */
        CampaignSort: "newest" | "oldest" | "name";
        /** @enum {string} */
        CampaignState: "waiting" | "active" | "paused" | "finished" | "failed" | "cancelled";
        CampaignsOfSchedule: {
            id: number;
            name: string;
            campaign_count: number;
            recent_states: {
                [key: string]: number;
            };
        };
        Candidate: {
            /** @enum {string} */
            scope: "node" | "shared";
            fstype: string;
            identity: string | null;
            places: components["schemas"]["CandidatePlace"][];
            joins: components["schemas"]["TargetRef"] | null;
            suggested_name: string;
        };
        CandidatePlace: {
            node_id: number;
            node_name: string;
            path: string;
            source: string;
            total_bytes: number | null;
            free_bytes: number | null;
        };
        CautionOutput: {
            code: string;
            message: string;
            field: string;
        };
        CellOutput: {
            id: number;
            ordinal: number;
            stage: number;
            variant: string;
            node_names: string[];
            target_names: string[];
            workload: string;
            options: {
                [key: string]: unknown;
            };
            runs: number[];
            counted_runs: number[];
            results: components["schemas"]["CellResult"][];
            adaptive: components["schemas"]["CellRepeats"] | null;
        };
        CellRepeats: {
            runs: number;
            half_width_ratio: number | null;
            resembles_before: boolean;
            ended_because: components["schemas"]["EndOfRepeats"] | null;
            series_id: number | null;
            words: string;
        };
        CellResult: {
            series_id: number;
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            n: number;
            median: number;
            low: number;
            high: number;
            tier: components["schemas"]["Tier"];
            variation_ratio: number | null;
            robust_spread_ratio: number | null;
            variation: components["schemas"]["Variation"] | null;
            flags: string[];
            usual_flags: string[];
        };
        CellTrend: {
            at_seconds: number[];
            medians: number[];
            levels: components["schemas"]["LevelLine"][];
            changes_seconds: number[];
        };
        ChannelChange: {
            name: string;
            receiver: components["schemas"]["EmailInput"] | components["schemas"]["WebhookInput"] | components["schemas"]["SlackInput"] | components["schemas"]["MattermostInput"];
            quiet_hours?: components["schemas"]["Window"] | null;
            digest?: components["schemas"]["Digest"] | null;
        };
        ChannelInput: {
            name: string;
            receiver: components["schemas"]["EmailInput"] | components["schemas"]["WebhookInput"] | components["schemas"]["SlackInput"] | components["schemas"]["MattermostInput"];
            quiet_hours?: components["schemas"]["Window"] | null;
            digest?: components["schemas"]["Digest"] | null;
            cluster_id?: number | null;
        };
        ChannelOutput: {
            id: number;
            name: string;
            cluster_id: number | null;
            cluster_name: string | null;
            receiver: components["schemas"]["Email"] | components["schemas"]["Webhook"] | components["schemas"]["Chat"];
            quiet_hours: components["schemas"]["Window"] | null;
            digest: components["schemas"]["Digest"] | null;
            digest_due_at: string | null;
            /** Format: date-time */
            created_at: string;
            delivered_at: string | null;
            failed_at: string | null;
            failure: string | null;
        };
        Chat: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "mattermost" | "slack";
            host: string;
            has_url: boolean;
        };
        /** @enum {string} */
        Check: "load_before" | "neighbours" | "load_during" | "steadiness" | "client_limit" | "clock" | "storage_condition" | "storage_errors" | "cache_size" | "cache_drop" | "data_source" | "same_start" | "outlier" | "environment" | "tool_release";
        ClaimRequest: {
            fence: number;
            agent_instance: string;
            boot_id: string;
        };
        ClaimedRatio: {
            options: {
                [key: string]: unknown;
            };
            ratio: number;
        };
        ClockReading: {
            offset_seconds: number;
            uncertainty_seconds: number;
        };
        ClusterInput: {
            name: string;
            /** @default  */
            description: string;
            /** @default direct */
            launcher: components["schemas"]["Launcher"];
        };
        ClusterOutput: {
            id: number;
            name: string;
            description: string;
            launcher: components["schemas"]["Launcher"];
            origin: components["schemas"]["Origin"];
            /** Format: date-time */
            created_at: string;
            drain: components["schemas"]["DrainOutput"] | null;
        };
        ClusterPatch: {
            name?: string | null;
            description?: string | null;
            launcher?: components["schemas"]["Launcher"] | null;
        };
        ClusterThroughput: {
            cluster_id: number;
            name: string;
            days: string[];
            medians: number[];
            series: number[];
        };
        ComparedCell: {
            campaign_id: number;
            cell_id: number;
            ordinal: number;
            workload: string;
            options: {
                [key: string]: unknown;
            };
            node_names: string[];
            target_names: string[];
            variant: string;
        };
        ComparedMetric: {
            verdict: components["schemas"]["Verdict"];
            words: string;
            median_ratio: number | null;
            ratio: number | null;
            low: number | null;
            high: number | null;
            p_value: number | null;
            is_discovery: boolean | null;
            basis: components["schemas"]["Basis"];
            basis_words: string;
            looks: number;
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            is_primary: boolean;
            target_name: string | null;
            n_a: number;
            n_b: number;
            values_a: number[];
            values_b: number[];
            median_a: number;
            median_b: number;
            flags: string[];
            flags_a: string[];
            flags_b: string[];
            reasons: string[];
            modes_a: components["schemas"]["TwoModes"] | null;
            modes_b: components["schemas"]["TwoModes"] | null;
        };
        ComparedPair: {
            a: components["schemas"]["ComparedCell"];
            b: components["schemas"]["ComparedCell"];
            differences: components["schemas"]["Difference"][];
            is_alike: boolean;
            metrics: components["schemas"]["ComparedMetric"][];
        };
        Conduct: {
            runs: number;
            cache: components["schemas"]["ConductLine"][];
            exclusivity: components["schemas"]["ConductLine"][];
            other_load: components["schemas"]["ConductLine"][];
            load_not_measured: number;
            not_judged: components["schemas"]["ConductLine"][];
        };
        ConductLine: {
            words: string;
            runs: number;
            run_ids: number[];
        };
        Confirmation: {
            found_sha256: string;
        };
        /** @enum {string} */
        Course: "too_short" | "steady" | "changed" | "drift";
        CredentialsInput: {
            name: string;
            password: string;
        };
        Curve: {
            order_id: number;
            counter: string;
            /** Format: date-time */
            started_at: string;
            step_seconds: number;
            values: (number | null)[];
            lows: (number | null)[] | null;
            highs: (number | null)[] | null;
        };
        CurvePiece: {
            counter: string;
            /** Format: date-time */
            started_at: string;
            step_seconds: number;
            values: number[];
        };
        /** @enum {string} */
        DataMode: "ordered" | "writeback" | "journal";
        DeathConfirmation: {
            statement_sha256: string;
        };
        DeathStatement: {
            node_id: number;
            node_name: string;
            /** Format: date-time */
            last_seen_at: string;
            runs: components["schemas"]["EndedRunOutput"][];
            waiting_count: number;
            statement_sha256: string;
        };
        DeliveryAttempt: {
            /** Format: date-time */
            at: string;
            words: string | null;
        };
        DeliveryOutput: {
            id: number;
            /** @enum {string} */
            kind: "alert" | "digest" | "stuck" | "test";
            cluster_id: number | null;
            subject: string;
            text: string;
            path: string;
            state: components["schemas"]["DeliveryState"];
            /** Format: date-time */
            created_at: string;
            due_at: string | null;
            ended_at: string | null;
            attempts: components["schemas"]["DeliveryAttempt"][];
        };
        /** @enum {string} */
        DeliveryState: "waiting" | "delivered" | "failed";
        Difference: {
            name: string;
            a: unknown;
            b: unknown;
        };
        Digest: {
            /** @enum {string} */
            weekday: "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";
            hour: number;
            time_zone: string;
        };
        /** @enum {string} */
        Direction: "worse" | "better" | "recovered" | "neither";
        /** @enum {string} */
        Directions: "worse" | "both";
        DoomedOrderOutput: {
            order_id: number;
            state: components["schemas"]["OrderState"];
            started_at: string | null;
            end: components["schemas"]["OrderEnd"];
        };
        DrainInput: {
            reason: string;
            until?: string | null;
        };
        DrainOutput: {
            /** @enum {string} */
            kind: "all" | "cluster" | "node" | "target";
            subject_id: number;
            cluster_id: number | null;
            reason: string;
            by: string | null;
            /** Format: date-time */
            since: string;
            until: string | null;
        };
        Drift: {
            shape: components["schemas"]["DriftShape"];
            shift_ratio: number | null;
            low: number | null;
            high: number | null;
            start: number;
            end: number;
            /** Format: date-time */
            start_at: string;
            /** Format: date-time */
            end_at: string;
            path: components["schemas"]["DriftPoint"][];
        };
        DriftPoint: {
            /** Format: date-time */
            at: string;
            value: number;
        };
        /** @enum {string} */
        DriftShape: "line" | "curve" | "wave";
        /** @enum {string} */
        Effect: "too_few_before" | "pending" | "none_shown" | "shifted";
        Email: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "email";
            host: string;
            port: number;
            tls: components["schemas"]["MailTls"];
            user: string | null;
            has_password: boolean;
            sender: string;
            recipients: string[];
        };
        EmailInput: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "email";
            host: string;
            /** @default 587 */
            port: number;
            /** @default starttls */
            tls: components["schemas"]["MailTls"];
            user?: string | null;
            password?: string | null;
            sender: string;
            recipients: string[];
        };
        EnableInput: {
            name: string;
            disks_sha256: string;
            target_name: string;
            /** @default false */
            allows_schedules: boolean;
            /** @default false */
            allows_tokens: boolean;
        };
        EnabledOutput: {
            /** Format: date-time */
            at: string;
            by: string | null;
            allows_schedules: boolean;
            allows_tokens: boolean;
        };
        /** @enum {string} */
        EndOfRepeats: "narrow" | "most" | "budget" | "failed" | "gone" | "cancelled";
        EndedRunOutput: {
            run_id: number;
            campaign_id: number;
            campaign_name: string;
            workload: string;
            orders: components["schemas"]["DoomedOrderOutput"][];
            becomes: components["schemas"]["RunState"];
            ends: string;
            risk: string;
        };
        Endpoint: {
            address: string;
            ports: number[];
            token: string;
        };
        EnrollReply: {
            node_id: number;
            node_name: string;
            cluster: string;
            node_token: string;
            broker: components["schemas"]["BrokerAccess"];
            pending_until?: string | null;
        };
        EnrollRequest: {
            join_token: string;
            node_name: string;
            role: components["schemas"]["NodeRole"];
            agent_version: string;
            wire_version: number;
            facts?: {
                [key: string]: string | number | boolean | null;
            };
        };
        ErrorBody: {
            error: components["schemas"]["ErrorDetail"];
        };
        ErrorDetail: {
            code: string;
            field: string | null;
            value: unknown;
            message: string;
            remedy: string | null;
            request_id: string | null;
        };
        EventInput: {
            cluster: string;
            text: string;
            at?: string | null;
            /** @default [] */
            nodes: string[];
            /** @default [] */
            targets: string[];
        };
        EventOutput: {
            id: number;
            cluster_id: number;
            /** @enum {string} */
            kind: "environment" | "manual";
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            at: string;
            text: string;
            node_ids: number[];
            target_ids: number[];
            run_id: number | null;
            told_by: string | null;
            judged_series: number;
            shifted_series: number;
            series_words: string | null;
        };
        /** @enum {string} */
        Exclusivity: "none" | "node" | "node+target" | "cluster";
        ExplorerRun: {
            id: number;
            campaign_id: number;
            campaign_name: string;
            cluster_id: number;
            cluster_name: string;
            cell_id: number;
            cell_ordinal: number;
            repeat: number;
            workload: string;
            options: {
                [key: string]: unknown;
            };
            variant: string;
            node_names: string[];
            target_names: string[];
            state: components["schemas"]["RunState"];
            /** @enum {string} */
            validity: "valid" | "rejected";
            flags: string[];
            usual_flags: string[];
            /** Format: date-time */
            at: string;
            duration_seconds: number | null;
            headline: components["schemas"]["Headline"] | null;
            likeness: string | null;
        };
        Failure: {
            /** Format: date-time */
            at: string;
            campaign_id: number;
            cell_id: number;
            run_id: number;
            run_count: number;
            reason_code: string | null;
            reason: string | null;
        };
        /** @enum {string} */
        FileFormat: "json" | "csv" | "parquet";
        /** @enum {string} */
        Filesystem: "ext2" | "ext3" | "ext4" | "xfs" | "jfs" | "reiserfs" | "f2fs" | "btrfs";
        FilesystemChoice: {
            type: components["schemas"]["Filesystem"];
            data?: components["schemas"]["DataMode"][] | null;
            profile?: components["schemas"]["BtrfsProfile"] | null;
        };
        Findable: {
            points_after: number;
            shift_ratio: number;
        };
        FinishReply: {
            accepted: boolean;
            duplicate: boolean;
        };
        FinishRequest: {
            fence: number;
            agent_instance: string;
            digest: string;
            outcome: components["schemas"]["Outcome"];
            reason_code: string | null;
            reason: string | null;
            started_at: string | null;
            /** Format: date-time */
            ended_at: string;
            steps: components["schemas"]["StepRecord"][];
            samples: components["schemas"]["SampleMessage"][];
            flags: components["schemas"]["Flag"][];
            environment: {
                [key: string]: string | number | boolean | null;
            };
            artefacts: components["schemas"]["ArtefactFact"][];
            curves: components["schemas"]["CurvePiece"][];
            foreign?: components["schemas"]["ForeignLoad"] | null;
            not_before?: string | null;
            not_judged?: components["schemas"]["NotJudged"][] | null;
        };
        /** @enum {string} */
        FiringOutcome: "submitted" | "failed" | "skipped";
        FiringOutput: {
            id: number;
            /** Format: date-time */
            planned_at: string;
            /** Format: date-time */
            fired_at: string;
            outcome: components["schemas"]["FiringOutcome"];
            campaign_id: number | null;
            problem: string | null;
            missed: number;
            asked_by: string | null;
        };
        Flag: {
            code: components["schemas"]["FlagCode"];
            effect: components["schemas"]["FlagEffect"];
            measured: string;
            limit: string;
            labels?: {
                [key: string]: string | number | boolean;
            };
            target_id?: number | null;
            peers?: components["schemas"]["PeerDistance"] | null;
        };
        /** @enum {string} */
        FlagCode: "CACHE_SIZE" | "CACHE_DROP" | "FSYNC" | "DURATION" | "STEADY" | "CV" | "OUTLIER" | "STRAGGLER" | "CLIENT_BOUND" | "CLOCK" | "ERRORS" | "ENV_CHANGED" | "DEGRADED" | "FOREIGN_LOAD" | "WRONG_MOUNT" | "FORK_BOUND" | "NO_DIRECT" | "ZEROES" | "TOO_FAST" | "PEER_ODD" | "PUBLISHED" | "LOAD_NOT_MEASURED" | "CUT" | "BOUND" | "TOOL_CLOCK" | "TIME_SET" | "NODE_TIME" | "LATE_START" | "GANG";
        /** @enum {string} */
        FlagEffect: "marked" | "rejected";
        ForeignBefore: {
            seconds: number;
            waited_seconds: number;
            processors: number;
            running_tasks: number | null;
            load1: number | null;
            cpu_ratio: number | null;
            psi_cpu_ratio: number | null;
            psi_io_ratio: number | null;
            disk_bytes_per_second: number | null;
            network_bytes_per_second: number | null;
            sessions: number | null;
            jobs: string[] | null;
            excess: string;
            within_seconds?: number | null;
        };
        ForeignDuring: {
            seconds: number;
            cpu_ratio: number | null;
            storage_ratio: number | null;
            storage_bytes_per_second: number | null;
            network_ratio: number | null;
            network_bytes_per_second: number | null;
            psi_cpu_ratio: number | null;
            psi_io_ratio: number | null;
        };
        ForeignLoad: {
            before: components["schemas"]["ForeignBefore"] | null;
            during: components["schemas"]["ForeignDuring"] | null;
        };
        FormerSample: {
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            target_id: number | null;
            value: number;
        };
        FoundName: {
            /** @enum {string} */
            kind: "cluster" | "node" | "target" | "campaign" | "schedule";
            id: number;
            name: string;
            cluster_id: number;
            cluster_name: string;
        };
        FoundSeries: {
            id: number;
            title: string;
            workload: string;
            metric: string;
            labels: {
                [key: string]: string | number | boolean;
            };
            target_names: string[];
            cluster_id: number;
            cluster_name: string;
        };
        GangNode: {
            name: string;
            address: string;
        };
        Gap: {
            /** Format: date-time */
            since: string;
            until: string | null;
        };
        HTTPValidationError: {
            detail?: components["schemas"]["ValidationError"][];
        };
        Headline: {
            series_id: number;
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            value: number;
            flags: string[];
            usual_flags: string[];
        };
        Health: {
            /** @enum {string} */
            status: "ok" | "degraded";
            /** @enum {string} */
            database: "ok" | "down" | "full" | "unknown";
            /** @enum {string} */
            redis: "ok" | "down" | "full" | "unknown";
            /** @enum {string} */
            scheduler: "ok" | "down" | "full" | "unknown";
            /** @enum {string} */
            worker: "ok" | "down" | "full" | "unknown";
            version: string;
        };
        HeartbeatReply: {
            /** Format: date-time */
            server_time: string;
            beat_seconds: number;
            orders: components["schemas"]["OrderWord"][];
            oldest_offer_seconds: number | null;
            hello_wanted: boolean;
            look?: number | null;
            /** @default false */
            rotation_wanted: boolean;
        };
        HeartbeatRequest: {
            agent_instance: string;
            boot_id: string;
            /** Format: date-time */
            sent_at: string;
            orders: components["schemas"]["OrderHeartbeat"][];
            spool_bytes?: number | null;
            clock?: components["schemas"]["ClockReading"] | null;
            stuck?: components["schemas"]["StuckLoad"][] | null;
            problem?: string | null;
        };
        HeldOrder: {
            order_id: number;
            fence: number;
        };
        HeldRunOutput: {
            run_id: number;
            campaign_id: number;
            campaign_name: string;
            workload: string;
            process: string;
            /** Format: date-time */
            since: string;
            frees: string;
            risk: string;
        };
        HelloReply: {
            wire_version: number;
            node_id: number;
            node_name: string;
            /** Format: date-time */
            server_time: string;
            beat_seconds: number;
        };
        HelloRequest: {
            agent_instance: string;
            previous_instance: string | null;
            boot_id: string;
            agent_version: string;
            wire_version: number;
            /** Format: date-time */
            sent_at: string;
            facts: {
                [key: string]: string | number | boolean | null;
            };
            mounts: components["schemas"]["MountFacts"][];
            approved_directories: string[];
            workloads: components["schemas"]["WorkloadAnnouncement"][];
            look?: number | null;
            holds: components["schemas"]["HeldOrder"][];
            clock?: components["schemas"]["ClockReading"] | null;
            scratch_sets?: components["schemas"]["ScratchSet"][] | null;
        };
        Holds: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "holds";
            name: string;
            value: string | number | boolean;
        };
        ImpossibleOutput: {
            variant: string;
            reason: string;
        };
        IncidentActionInput: {
            action: components["schemas"]["IncidentMove"];
            /** @default  */
            comment: string;
            owner?: string | null;
            event_id?: number | null;
        };
        IncidentDetail: {
            incident: components["schemas"]["IncidentOutput"];
            changes: components["schemas"]["IncidentMember"][];
            changes_left_out: number;
            stale: components["schemas"]["AlertOutput"][];
            actions: components["schemas"]["IncidentStep"][];
            events: components["schemas"]["EventOutput"][];
        };
        IncidentMember: {
            series: components["schemas"]["SeriesOutput"];
            change: components["schemas"]["SeriesChange"];
            alert_id: number | null;
            alert_state: components["schemas"]["AlertState"] | null;
        };
        /** @enum {string} */
        IncidentMove: "acknowledge" | "expect" | "set_cause" | "ignore" | "comment" | "reopen" | "undo";
        IncidentOutput: {
            id: number;
            cluster_id: number;
            cluster_name: string;
            /** @enum {string} */
            kind: "worse" | "better" | "neither" | "stale";
            state: components["schemas"]["IncidentState"];
            words: string;
            /** Format: date-time */
            at: string;
            ended_at: string | null;
            worst_ratio: number | null;
            series_count: number;
            series: components["schemas"]["SeriesOutput"] | null;
            change: components["schemas"]["SeriesChange"] | null;
            event: components["schemas"]["EventOutput"] | null;
            is_event_set: boolean;
            owner: string | null;
            is_environment: boolean;
            told_at: string | null;
            moves: components["schemas"]["IncidentMove"][];
        };
        /** @enum {string} */
        IncidentState: "open" | "acknowledged" | "expected" | "ignored" | "ended" | "withdrawn";
        IncidentStep: {
            /** Format: date-time */
            at: string;
            who: string | null;
            action: string;
            comment: string;
            alerts: number;
        };
        /** @enum {string} */
        JobEnd: "done" | "cancelled" | "time_limit" | "node_failed" | "failed";
        JobNode: {
            name: string;
            order_id: number;
        };
        /** @enum {string} */
        JobState: "pending" | "running" | "ended";
        JoinTokenCreated: {
            id: number;
            cluster_id: number;
            node_id: number | null;
            uses_left: number;
            needs_approval: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            made_by: string | null;
            token: string;
            command: string;
            install_command: string | null;
        };
        JoinTokenInput: {
            /** @default 1 */
            uses: number;
            /** @default 3600 */
            expires_in_seconds: number;
            needs_approval?: boolean | null;
        };
        JoinTokenOutput: {
            id: number;
            cluster_id: number;
            node_id: number | null;
            uses_left: number;
            needs_approval: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            made_by: string | null;
        };
        /** @enum {string} */
        Launcher: "direct" | "slurm" | "lsf" | "pbs" | "flux";
        LayoutChoice: {
            raid?: (0 | 1 | 5 | 6 | 10) | null;
            lvm?: components["schemas"]["LvmKind"] | null;
            disks?: number | null;
            chunk_bytes?: number | null;
            /** @default none */
            bitmap: components["schemas"]["Bitmap"];
            on?: components["schemas"]["ScratchArray"] | null;
            /** @default 1 */
            arrays: number;
            /** @default 1MiB */
            start: components["schemas"]["Start"];
        };
        LevelLine: {
            start_seconds: number;
            end_seconds: number;
            start: number;
            end: number;
        };
        LinkInput: {
            token: string;
        };
        ListedCampaign: {
            id: number;
            name: string;
            cluster_id: number;
            cluster_name: string;
            owner: string | null;
            schedule_id: number | null;
            schedule_name: string | null;
            plan: components["schemas"]["CampaignPlan"] | null;
            state: components["schemas"]["CampaignState"];
            /** Format: date-time */
            created_at: string;
            ended_at: string | null;
            counts: components["schemas"]["RunCounts"];
            preparations: components["schemas"]["PreparationCounts"][];
            stages: components["schemas"]["Stage"][];
            additions: components["schemas"]["AddedRepeats"][];
            adaptive: components["schemas"]["AdaptiveProgress"] | null;
            next_release_at: string | null;
            progress: number;
            seconds_remaining_estimated: number | null;
        };
        ListedSchedule: {
            id: number;
            name: string;
            cluster_id: number;
            cluster_name: string;
            owner: string | null;
            state: components["schemas"]["ScheduleState"];
            plan: components["schemas"]["CampaignPlan"] | null;
            cron: string;
            monthly: string | null;
            words: string;
            time_zone: string;
            random_offset_seconds: number;
            ends_at: string | null;
            max_firings: number | null;
            missed: components["schemas"]["MissedFirings"];
            firings_made: number;
            /** Format: date-time */
            created_at: string;
            next_firings: components["schemas"]["PlannedFiring"][];
            last_firing: components["schemas"]["FiringOutput"] | null;
        };
        ListedTemplate: {
            id: number;
            cluster_id: number;
            cluster_name: string;
            name: string;
            owner: string | null;
            plan: components["schemas"]["CampaignPlan"] | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            changed_at: string;
        };
        LoginInput: {
            name: string;
            scopes: ("read" | "operate" | "admin")[];
            secret_sha256: string;
            /** Format: date-time */
            asked_at: string;
        };
        /** @enum {string} */
        LvmKind: "linear" | "stripe";
        /** @enum {string} */
        MailTls: "starttls" | "tls" | "none";
        MattermostInput: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "mattermost";
            url?: string | null;
        };
        MeasuredCell: {
            id: number;
            ordinal: number;
            stage: number;
            variant: string;
            node_names: string[];
            target_names: string[];
            workload: string;
            options: {
                [key: string]: unknown;
            };
            runs: components["schemas"]["MeasuredRun"][];
            measurements: components["schemas"]["Measurement"][];
        };
        MeasuredMetric: {
            metric: string;
            title: string;
        };
        MeasuredRun: {
            id: number;
            repeat: number;
            started_at: string | null;
        };
        MeasuredWorkload: {
            workload: string;
            metrics: components["schemas"]["MeasuredMetric"][];
        };
        Measurement: {
            labels: {
                [key: string]: string | number | boolean;
            };
            target_name: string | null;
            n: number;
            median: number;
            low: number;
            high: number;
            tier: components["schemas"]["Tier"];
            flags: string[];
            run_ids: number[];
            values: number[];
        };
        MetricBoard: {
            workload: string | null;
            metric: string | null;
            measured: components["schemas"]["MeasuredWorkload"][];
            series: components["schemas"]["SeriesStanding"][];
            is_cut: boolean;
        };
        MetricSpec: {
            name: string;
            title: string;
            /** @default  */
            description: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: string[];
            /** @default false */
            primary: boolean;
        };
        /** @enum {string} */
        MissedFirings: "skip" | "run_once";
        MkfsOutput: {
            filesystem: components["schemas"]["Filesystem"];
            align: components["schemas"]["Alignment"];
            command: string[] | null;
            unit_blocks: number | null;
            width_blocks: number | null;
            problem: string | null;
        };
        /** @enum {string} */
        Mode: "shared" | "exclusive";
        MountFacts: {
            path: string;
            mount_point: string;
            fstype: string;
            source: string;
            mount_options: string;
            total_bytes: number | null;
            free_bytes: number | null;
            total_inodes?: number | null;
            free_inodes?: number | null;
            approved: boolean;
            facts: {
                [key: string]: string | number | boolean | null;
            };
        };
        MountState: {
            fstype: string;
            source: string;
            mount_point: string | null;
            identity: string | null;
            mount_options: string;
        };
        /** @enum {string} */
        Move: "acknowledge" | "investigate" | "expect" | "noise" | "wont_fix" | "fixed" | "accept_baseline" | "reopen" | "comment";
        MuteInput: {
            until: string | null;
        };
        NamedChange: {
            series: components["schemas"]["SeriesOutput"];
            change: components["schemas"]["SeriesChange"];
            events: components["schemas"]["EventOutput"][];
            events_more: number;
        };
        NamedDrain: {
            /** @enum {string} */
            kind: "all" | "cluster" | "node" | "target";
            subject_id: number;
            cluster_id: number | null;
            reason: string;
            by: string | null;
            /** Format: date-time */
            since: string;
            until: string | null;
            name: string;
        };
        NamedEndpoint: {
            node: string;
            endpoint: components["schemas"]["Endpoint"];
        };
        NewCredentials: {
            node_token: string;
            broker: components["schemas"]["BrokerAccess"];
        };
        NodeClockOutput: {
            offset_seconds: number;
            uncertainty_seconds: number;
            is_off: boolean;
        };
        NodeOutput: {
            id: number;
            cluster_id: number;
            name: string;
            role: components["schemas"]["NodeRole"];
            slots: number;
            state: components["schemas"]["NodeState"];
            last_seen_at: string | null;
            agent_version: string | null;
            wire_version: number | null;
            agent_standing: components["schemas"]["AgentStanding"];
            clock: components["schemas"]["NodeClockOutput"] | null;
            /** Format: date-time */
            credentials_at: string;
            rotation_wanted_at: string | null;
            boot_id: string | null;
            facts: {
                [key: string]: string | number | boolean | null;
            };
            mounts: components["schemas"]["MountFacts"][];
            approved_directories: string[];
            workloads: components["schemas"]["NodeWorkloadOutput"][];
            active_orders: components["schemas"]["ActiveOrderOutput"][];
            problem: string | null;
            stuck: components["schemas"]["StuckLoadOutput"][];
            drain: components["schemas"]["DrainOutput"] | null;
        };
        NodePatch: {
            slots?: number | null;
            role?: components["schemas"]["NodeRole"] | null;
        };
        NodePath: {
            node_id: number;
            path: string;
        };
        /** @enum {string} */
        NodeRole: "compute" | "storage" | "gateway";
        /** @enum {string} */
        NodeState: "online" | "stuck" | "silent" | "never_seen" | "revoked" | "retired" | "sample_data";
        NodeSummaryOutput: {
            id: number;
            name: string;
            role: components["schemas"]["NodeRole"];
            state: components["schemas"]["NodeState"];
            last_seen_at: string | null;
            agent_version: string | null;
            agent_standing: components["schemas"]["AgentStanding"];
            clock_is_off: boolean;
            facts: {
                [key: string]: string | number | boolean | null;
            };
            problem: string | null;
            stuck: components["schemas"]["StuckLoadOutput"][];
            drain: components["schemas"]["DrainOutput"] | null;
            active_orders: components["schemas"]["ActiveOrderOutput"][];
        };
        NodeWorkloadOutput: {
            name: string;
            revision: number;
            tool_version: string | null;
            available: boolean;
            unavailable_because: string | null;
        };
        Noise: {
            /** Format: date-time */
            at: string;
            /** Format: date-time */
            previous_at: string;
            n_before: number;
            n_after: number;
            spread_before_ratio: number;
            spread_after_ratio: number;
            is_noisier: boolean;
            p_value: number;
            words: string;
            /** Format: date-time */
            found_at: string;
            confirmed_at: string | null;
        };
        NotJudged: {
            check: components["schemas"]["Check"];
            because: string;
            /** @default  */
            phase: string;
        };
        Number: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "number";
            value: number;
        };
        Observation: {
            order_id: number;
            node_name: string;
            environment: {
                [key: string]: unknown;
            };
        };
        "Operation-Input": {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "operation";
            /** @enum {string} */
            op: "+" | "-" | "*" | "/" | "min" | "max" | "double";
            args: (components["schemas"]["Number"] | components["schemas"]["Option"] | components["schemas"]["Holds"] | components["schemas"]["Operation-Input"])[];
        };
        "Operation-Output": {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "operation";
            /** @enum {string} */
            op: "+" | "-" | "*" | "/" | "min" | "max" | "double";
            args: (components["schemas"]["Number"] | components["schemas"]["Option"] | components["schemas"]["Holds"] | components["schemas"]["Operation-Output"])[];
        };
        Option: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "name";
            name: string;
        };
        Order: {
            order_id: number;
            run_id: number;
            attempt: number;
            fence: number;
            role: components["schemas"]["OrderRole"];
            campaign: string;
            repeat: number;
            workload: string;
            workload_revision: number;
            schema_sha256: string;
            options: {
                [key: string]: unknown;
            };
            targets: components["schemas"]["OrderTarget"][];
            /** @enum {string} */
            node_mode: "shared" | "exclusive";
            time_limit_seconds: number;
            /** @default drop */
            cache: components["schemas"]["CachePolicy"];
            /** @default flag */
            quiet: components["schemas"]["QuietPolicy"];
            /** @default 0 */
            quiet_wait_seconds: number;
            /** @default client */
            step_role: components["schemas"]["StepRole"];
            /** @default [] */
            gang: components["schemas"]["GangNode"][];
            directory_order_id?: number | null;
        };
        /** @enum {string} */
        OrderEnd: "finished" | "failed" | "cancelled" | "declined" | "withdrawn" | "lost";
        OrderHeartbeat: {
            order_id: number;
            fence: number;
            state: components["schemas"]["OrderState"];
            progress: number | null;
            phase: string;
            started_at: string | null;
            /** @default [] */
            curves: components["schemas"]["CurvePiece"][];
            endpoint?: components["schemas"]["Endpoint"] | null;
            go_heard?: string | null;
        };
        OrderReading: {
            order_id: number;
            samples: components["schemas"]["SampleMessage"][];
            flags: components["schemas"]["Flag"][];
        };
        /** @enum {string} */
        OrderRole: "load" | "observe";
        /** @enum {string} */
        OrderState: "offered" | "claimed" | "preflight" | "ready" | "running" | "uploading" | "ended";
        OrderTarget: {
            target_id: number;
            name: string;
            path: string;
            fstype: string;
            source: string;
            reserve_bytes: number;
            mount_point?: string | null;
            root?: string | null;
            identity?: string | null;
        };
        OrderWord: {
            order_id: number;
            fence: number;
            word: components["schemas"]["Word"];
            go_at: string | null;
            endpoint?: components["schemas"]["Endpoint"] | null;
            /** @default [] */
            members: components["schemas"]["NamedEndpoint"][];
        };
        /** @enum {string} */
        Origin: "own" | "made_up" | "published";
        /** @enum {string} */
        Outcome: "finished" | "failed" | "cancelled" | "declined";
        Page_AlertOutput_: {
            items: components["schemas"]["AlertOutput"][];
            next_cursor: string | null;
        };
        Page_AlertRuleOutput_: {
            items: components["schemas"]["AlertRuleOutput"][];
            next_cursor: string | null;
        };
        Page_ArtefactOutput_: {
            items: components["schemas"]["ArtefactOutput"][];
            next_cursor: string | null;
        };
        Page_AuditEntryOutput_: {
            items: components["schemas"]["AuditEntryOutput"][];
            next_cursor: string | null;
        };
        Page_BlackoutOutput_: {
            items: components["schemas"]["BlackoutOutput"][];
            next_cursor: string | null;
        };
        Page_CampaignGroup_: {
            items: components["schemas"]["CampaignGroup"][];
            next_cursor: string | null;
        };
        Page_CellOutput_: {
            items: components["schemas"]["CellOutput"][];
            next_cursor: string | null;
        };
        Page_ChannelOutput_: {
            items: components["schemas"]["ChannelOutput"][];
            next_cursor: string | null;
        };
        Page_ClusterOutput_: {
            items: components["schemas"]["ClusterOutput"][];
            next_cursor: string | null;
        };
        Page_Curve_: {
            items: components["schemas"]["Curve"][];
            next_cursor: string | null;
        };
        Page_DeliveryOutput_: {
            items: components["schemas"]["DeliveryOutput"][];
            next_cursor: string | null;
        };
        Page_EventOutput_: {
            items: components["schemas"]["EventOutput"][];
            next_cursor: string | null;
        };
        Page_ExplorerRun_: {
            items: components["schemas"]["ExplorerRun"][];
            next_cursor: string | null;
        };
        Page_FiringOutput_: {
            items: components["schemas"]["FiringOutput"][];
            next_cursor: string | null;
        };
        Page_IncidentOutput_: {
            items: components["schemas"]["IncidentOutput"][];
            next_cursor: string | null;
        };
        Page_JoinTokenOutput_: {
            items: components["schemas"]["JoinTokenOutput"][];
            next_cursor: string | null;
        };
        Page_ListedCampaign_: {
            items: components["schemas"]["ListedCampaign"][];
            next_cursor: string | null;
        };
        Page_ListedSchedule_: {
            items: components["schemas"]["ListedSchedule"][];
            next_cursor: string | null;
        };
        Page_ListedTemplate_: {
            items: components["schemas"]["ListedTemplate"][];
            next_cursor: string | null;
        };
        Page_MeasuredCell_: {
            items: components["schemas"]["MeasuredCell"][];
            next_cursor: string | null;
        };
        Page_NamedChange_: {
            items: components["schemas"]["NamedChange"][];
            next_cursor: string | null;
        };
        Page_NodeOutput_: {
            items: components["schemas"]["NodeOutput"][];
            next_cursor: string | null;
        };
        Page_NodeSummaryOutput_: {
            items: components["schemas"]["NodeSummaryOutput"][];
            next_cursor: string | null;
        };
        Page_PendingNodeOutput_: {
            items: components["schemas"]["PendingNodeOutput"][];
            next_cursor: string | null;
        };
        Page_RunEventOutput_: {
            items: components["schemas"]["RunEventOutput"][];
            next_cursor: string | null;
        };
        Page_RunOutput_: {
            items: components["schemas"]["RunOutput"][];
            next_cursor: string | null;
        };
        Page_SampleOutput_: {
            items: components["schemas"]["SampleOutput"][];
            next_cursor: string | null;
        };
        Page_ScratchSetOutput_: {
            items: components["schemas"]["ScratchSetOutput"][];
            next_cursor: string | null;
        };
        Page_SeriesOutput_: {
            items: components["schemas"]["SeriesOutput"][];
            next_cursor: string | null;
        };
        Page_SurfaceSource_: {
            items: components["schemas"]["SurfaceSource"][];
            next_cursor: string | null;
        };
        Page_TargetOutput_: {
            items: components["schemas"]["TargetOutput"][];
            next_cursor: string | null;
        };
        Page_Token_: {
            items: components["schemas"]["Token"][];
            next_cursor: string | null;
        };
        Page_UserOutput_: {
            items: components["schemas"]["UserOutput"][];
            next_cursor: string | null;
        };
        Page_WorkloadOutput_: {
            items: components["schemas"]["WorkloadOutput"][];
            next_cursor: string | null;
        };
        Page_str_: {
            items: string[];
            next_cursor: string | null;
        };
        PasswordInput: {
            old_password: string | null;
            new_password: string;
        };
        PauseOutput: {
            campaign_id: number;
            ordinal: number;
            variant: string;
            pause: string | null;
            paused_at: string | null;
            looked_at: string | null;
            waiting_for: string[];
            found_sha256: string;
            mounts: components["schemas"]["PausedMount"][];
        };
        PausedMount: {
            target: string;
            node: string;
            path: string;
            was: components["schemas"]["MountState"];
            now: components["schemas"]["MountState"] | null;
            is_change: boolean;
            is_backing: boolean;
            problem: string | null;
            told_at: string | null;
        };
        Peer: {
            name: string;
            series_id: number;
            n: number;
            campaigns: number;
            median: number;
            difference_ratio: number;
            robust_z: number | null;
            is_odd: boolean;
            by_campaign: components["schemas"]["PeerCampaign"][];
            words: string;
        };
        /** @enum {string} */
        PeerBasis: "common_campaigns" | "own_campaigns";
        PeerCampaign: {
            campaign_id: number;
            difference_ratio: number;
        };
        PeerDistance: {
            kind: components["schemas"]["PeerKind"];
            metric: string;
            peer_count: number;
            difference_ratio: number;
        };
        PeerGroup: {
            kind: components["schemas"]["PeerKind"];
            alike: string;
            workload: string;
            options: {
                [key: string]: unknown;
            };
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            members: components["schemas"]["Peer"][];
            too_few: string[];
            has_odd: boolean;
            not_judged: string | null;
            z_limit: number | null;
            basis: components["schemas"]["PeerBasis"] | null;
            basis_words: string | null;
        };
        /** @enum {string} */
        PeerKind: "nodes" | "targets" | "osts";
        Peers: {
            cluster_id: number;
            groups: components["schemas"]["PeerGroup"][];
            left_out: number;
        };
        PendingChoice: {
            pending_ids: number[];
        };
        PendingNodeOutput: {
            id: number;
            cluster_id: number;
            name: string;
            role: components["schemas"]["NodeRole"];
            address: string | null;
            fingerprint: string;
            agent_version: string;
            agent_standing: components["schemas"]["AgentStanding"];
            facts: {
                [key: string]: string | number | boolean | null;
            };
            /** Format: date-time */
            asked_at: string;
            last_seen_at: string | null;
            /** Format: date-time */
            expires_at: string;
        };
        /** @enum {string} */
        Permission: "enabled" | "changed" | "disabled";
        PlannedFiring: {
            /** Format: date-time */
            planned_at: string;
            /** Format: date-time */
            fires_at: string;
        };
        PlannedStage: {
            variant: string;
            pause?: string | null;
        };
        Points: {
            series: components["schemas"]["SeriesOutput"];
            left_out: number;
            at: string[];
            median: number[];
            low: number[];
            high: number[];
            n: number[];
            variation_ratio: (number | null)[];
            robust_spread_ratio: (number | null)[];
            cell_id: number[];
            campaign_id: number[];
            flags: string[][];
            usual_flags: string[][];
            gaps: components["schemas"]["Gap"][];
            gap_missing_days: number;
            failures: components["schemas"]["Failure"][];
        };
        PowerOutput: {
            repeats: number;
            numbers: number;
            repeats_recommended: number | null;
            workloads: components["schemas"]["WorkloadPower"][];
        };
        PowerRow: {
            scatter_ratio: number;
            difference_ratio: number | null;
            shared_difference_ratio: number | null;
            repeats_needed: number | null;
        };
        PreparationCounts: {
            waiting: number;
            active: number;
            finished: number;
            failed: number;
            cancelled: number;
            /** @enum {string} */
            does: "make" | "fill" | "mount" | "clean";
        };
        Preview: {
            cells: components["schemas"]["PreviewCell"][];
            cell_count: number;
            run_count: number;
            power: components["schemas"]["PowerOutput"];
            seconds_estimated: number | null;
            seconds_unknown_because: string | null;
            bytes_peak: number;
            bytes_moved: number;
            wear: components["schemas"]["WearOutput"][];
            scratch: components["schemas"]["ScratchPreview"] | null;
            warnings: components["schemas"]["CautionOutput"][];
        };
        PreviewCell: {
            ordinal: number;
            stage: number;
            variant: string;
            node_names: string[];
            sender_name: string | null;
            program: string | null;
            observer_names: string[];
            target_names: string[];
            workload: string;
            options: {
                [key: string]: unknown;
            };
            bytes_needed: number;
            run_seconds_estimated: number | null;
        };
        PreviousHeadline: {
            campaign_id: number;
            median: number;
            n: number;
            ratio: number | null;
        };
        /** @enum {string} */
        PrincipalKind: "user" | "token" | "node" | "anonymous";
        PublishedCampaignOutput: {
            campaign_id: number;
            campaign_name: string;
            cluster_id: number;
            cluster_name: string;
            workload: string;
            runs: number;
        };
        PublishedClaim: {
            words: string;
            ratio: number;
            metric: string;
            target: string;
            against: string;
            ratios: components["schemas"]["ClaimedRatio"][];
            is_supported: boolean;
            verdict: string;
        };
        PublishedSourceOutput: {
            key: string;
            authors: string;
            title: string;
            place: string;
            url: string | null;
            published_on: string | null;
            shows: string;
            caution: string;
            claim: components["schemas"]["PublishedClaim"] | null;
            campaigns: components["schemas"]["PublishedCampaignOutput"][];
        };
        PublishedSources: {
            items: components["schemas"]["PublishedSourceOutput"][];
        };
        Queue: {
            waiting: number;
            runs: components["schemas"]["QueuedRun"][];
        };
        QueuedRun: {
            run_id: number;
            campaign_id: number;
            campaign_name: string;
            owner: string | null;
            priority: number;
            repeat: number;
            workload: string;
            node_names: string[];
            target_names: string[];
            /** Format: date-time */
            created_at: string;
            waiting_because: string;
        };
        /** @enum {string} */
        QuietPolicy: "ignore" | "flag" | "wait" | "refuse";
        ReadingDetail: {
            id: number;
            order_id: number;
            ordinal: number;
            workload_revision: number;
            parser_version: string | null;
            /** Format: date-time */
            read_at: string;
            read_by: string | null;
            flags: components["schemas"]["Flag"][];
            samples: components["schemas"]["FormerSample"][];
        };
        ReadingOutput: {
            id: number;
            order_id: number;
            ordinal: number;
            workload_revision: number;
            parser_version: string | null;
            /** Format: date-time */
            read_at: string;
            read_by: string | null;
        };
        Ready: {
            /** @constant */
            status: "ready";
        };
        ReenrolmentInput: {
            /** @default 3600 */
            expires_in_seconds: number;
        };
        RefusedJob: {
            run_id: number;
            fence: number;
            words: string;
        };
        RemovedRule: {
            closed_alerts: number;
        };
        RepeatsInput: {
            repeats: number;
            cell_ids?: number[] | null;
        };
        RevocationOutput: {
            node_id: number;
            node_name: string;
            runs: components["schemas"]["TouchedRunOutput"][];
            waiting_count: number;
        };
        /** @enum {string} */
        Role: "viewer" | "operator" | "admin";
        RoleGrantOutput: {
            cluster_id: number | null;
            role: components["schemas"]["Role"];
        };
        Roles: {
            sender: string;
            receiver: string;
        };
        RotateRequest: {
            agent_instance: string;
        };
        RuleRef: {
            id: number;
            name: string;
        };
        RunCount: {
            count: number;
            is_at_least: boolean;
        };
        RunCounts: {
            waiting: number;
            active: number;
            finished: number;
            failed: number;
            cancelled: number;
        };
        RunDetail: {
            id: number;
            campaign_id: number;
            campaign_name: string;
            cell_id: number;
            repeat: number;
            cluster_id: number;
            node_names: string[];
            target_names: string[];
            variant: string;
            workload: string;
            options: {
                [key: string]: unknown;
            };
            state: components["schemas"]["RunState"];
            /** @enum {string} */
            validity: "valid" | "rejected";
            flags: components["schemas"]["Flag"][];
            usual_flags: string[];
            overdue: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            ended_at: string | null;
            reason_code: string | null;
            reason: string | null;
            progress: number | null;
            phase: string | null;
            attempts_made: number;
            attempts: components["schemas"]["AttemptOutput"][];
            environment: {
                [key: string]: unknown;
            };
            observations: components["schemas"]["Observation"][];
            samples: components["schemas"]["SampleOutput"][];
            readings: components["schemas"]["ReadingOutput"][];
            not_judged: components["schemas"]["UnansweredCheck"][] | null;
            waiting_because: string | null;
            expected_start_at: string | null;
            expected_start_unknown_because: string | null;
        };
        RunEventOutput: {
            id: number;
            /** Format: date-time */
            at: string;
            kind: string;
            text: string;
        };
        RunOrder: {
            id: number;
            node_id: number;
            node_name: string;
            role: components["schemas"]["OrderRole"];
            step_role: ("sender" | "receiver" | "maker" | "head" | "member") | null;
            state: components["schemas"]["OrderState"];
            progress: number | null;
            phase: string;
            silent_since: string | null;
            claimed_at: string | null;
            started_at: string | null;
            ended_at: string | null;
            outcome: components["schemas"]["OrderEnd"] | null;
            steps: components["schemas"]["StepRecord"][];
            foreign_load: components["schemas"]["ForeignLoad"] | null;
        };
        RunOutput: {
            id: number;
            campaign_id: number;
            campaign_name: string;
            cell_id: number;
            repeat: number;
            cluster_id: number;
            node_names: string[];
            target_names: string[];
            variant: string;
            workload: string;
            options: {
                [key: string]: unknown;
            };
            state: components["schemas"]["RunState"];
            /** @enum {string} */
            validity: "valid" | "rejected";
            flags: components["schemas"]["Flag"][];
            usual_flags: string[];
            overdue: boolean;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            ended_at: string | null;
            reason_code: string | null;
            reason: string | null;
            progress: number | null;
            phase: string | null;
            attempts_made: number;
        };
        RunReading: {
            workload_revision: number;
            parser_version: string;
            orders: components["schemas"]["OrderReading"][];
        };
        /** @enum {string} */
        RunSort: "newest" | "oldest" | "longest" | "shortest" | "highest" | "lowest";
        /** @enum {string} */
        RunState: "waiting" | "active" | "finished" | "failed" | "cancelled";
        SampleMessage: {
            metric: string;
            value: number;
            labels: {
                [key: string]: string | number | boolean;
            };
            target_id: number | null;
        };
        SampleOutput: {
            id: number;
            run_id: number;
            order_id: number;
            series_id: number;
            target_id: number | null;
            target_name: string | null;
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            superseded: string | null;
            value: number;
        };
        SavedViewInput: {
            name: string;
            query: string;
        };
        SavedViewOutput: {
            id: number;
            name: string;
            query: string;
            /** Format: date-time */
            created_at: string;
        };
        SavedViews: {
            items: components["schemas"]["SavedViewOutput"][];
        };
        ScheduleOutput: {
            id: number;
            name: string;
            cluster_id: number;
            cluster_name: string;
            owner: string | null;
            state: components["schemas"]["ScheduleState"];
            plan: components["schemas"]["CampaignPlan"] | null;
            cron: string;
            monthly: string | null;
            words: string;
            time_zone: string;
            random_offset_seconds: number;
            ends_at: string | null;
            max_firings: number | null;
            missed: components["schemas"]["MissedFirings"];
            firings_made: number;
            /** Format: date-time */
            created_at: string;
            next_firings: components["schemas"]["PlannedFiring"][];
            last_firing: components["schemas"]["FiringOutput"] | null;
        };
        SchedulePlan: {
            cron?: string | null;
            monthly?: string | null;
            time_zone: string;
            /** @default 0 */
            random_offset_seconds: number;
            ends_at?: string | null;
            max_firings?: number | null;
            name: string;
            plan: components["schemas"]["CampaignPlan"];
            /** @default skip */
            missed: components["schemas"]["MissedFirings"];
        };
        /** @enum {string} */
        ScheduleState: "active" | "paused" | "ended";
        ScratchArray: {
            /** @enum {integer} */
            raid: 0 | 1 | 5 | 6 | 10;
            disks: number;
            chunk_bytes?: number | null;
            /** @default none */
            bitmap: components["schemas"]["Bitmap"];
        };
        ScratchDisk: {
            id: string;
            wwn: string | null;
            serial: string | null;
            model: string;
            size_bytes: number;
            bay: string | null;
            /** Format: date-time */
            adopted_at: string;
            adopted_by: string;
            state: components["schemas"]["ScratchState"];
        };
        ScratchDiskOutput: {
            id: string;
            wwn: string | null;
            serial: string | null;
            model: string;
            size_bytes: number;
            bay: string | null;
            /** Format: date-time */
            adopted_at: string;
            adopted_by: string | null;
            state: components["schemas"]["ScratchState"];
        };
        ScratchPlan: {
            node: string;
            set: string;
            layouts: (string | components["schemas"]["LayoutChoice"])[];
            filesystems: components["schemas"]["FilesystemChoice"][];
            options?: components["schemas"]["Alignment"][];
            mount?: string[];
            /** @default 2 */
            rounds: number;
            /** @default wait */
            sync: components["schemas"]["Sync"];
            /**
             * @default none
             * @enum {string}
             */
            precondition: "none" | "discard" | "fill";
            fill_ratio?: number | null;
            /** @default 100 */
            size_percent: number;
            /** @default false */
            except_impossible: boolean;
            serves?: "nfs" | null;
        };
        ScratchPreview: {
            node_name: string;
            set_name: string;
            stages: components["schemas"]["ScratchStageOutput"][];
            clients: string[];
            left_out: components["schemas"]["ImpossibleOutput"][];
            make_seconds_estimated: number | null;
            make_seconds_known: number;
            bytes_filled: number;
            disk_bytes_per_second: number | null;
        };
        ScratchSet: {
            name: string;
            mount_path: string;
            state: components["schemas"]["ScratchState"];
            reason: string;
            variant: string | null;
            last_used_at: string | null;
            disks: components["schemas"]["ScratchDisk"][];
            /** @default [] */
            lacks: string[];
        };
        ScratchSetOutput: {
            id: number;
            cluster_id: number;
            node_id: number;
            node_name: string;
            name: string;
            mount_path: string;
            state: components["schemas"]["ScratchState"];
            reason: string;
            variant: string | null;
            last_used_at: string | null;
            /** Format: date-time */
            seen_at: string;
            disks: components["schemas"]["ScratchDiskOutput"][];
            disks_sha256: string;
            permission: components["schemas"]["Permission"];
            enabled: components["schemas"]["EnabledOutput"] | null;
            changes: string[];
            failed_cleaning_run_id: number | null;
            target: components["schemas"]["TargetRef"] | null;
            suggested_target: string;
        };
        ScratchStageOutput: {
            ordinal: number;
            round: number;
            variant: string;
            unit_blocks: number;
            width_blocks: number;
            size_bytes: number | null;
            bytes_filled: number | null;
            make_seconds_estimated: number | null;
            is_measured: boolean;
        };
        /** @enum {string} */
        ScratchState: "clean" | "dirty" | "in_use" | "foreign" | "absent" | "lost";
        SearchResult: {
            named: components["schemas"]["FoundName"][];
            series: components["schemas"]["FoundSeries"][];
        };
        SeenHost: {
            name: string;
            is_up: boolean;
            words: string;
        };
        SeenJob: {
            run_id: number;
            fence: number;
            job_id: string;
            state: components["schemas"]["JobState"];
            end: components["schemas"]["JobEnd"] | null;
            words: string;
        };
        SeriesAnalysis: {
            series_id: number;
            course: components["schemas"]["Course"] | null;
            words: string;
            n: number;
            missing_points: number;
            memory: number | null;
            scatter_ratio: number | null;
            findable: components["schemas"]["Findable"][];
            findable_words: string | null;
            drift: components["schemas"]["Drift"] | null;
            noise: components["schemas"]["Noise"] | null;
            noise_missing_points: number;
            suspect: components["schemas"]["Suspect"] | null;
            changes: components["schemas"]["SeriesChange"][];
            events: components["schemas"]["SeriesEvent"][];
            detector: string | null;
            analysed_at: string | null;
        };
        SeriesChange: {
            id: number;
            series_id: number;
            /** Format: date-time */
            at: string;
            /** Format: date-time */
            previous_at: string;
            cell_id: number;
            n_before: number;
            n_after: number;
            median_before: number;
            median_after: number;
            shift_ratio: number | null;
            direction: ("better" | "worse" | "recovered") | null;
            ended_at: string | null;
            is_over: boolean;
            recovered_by: number | null;
            p_value: number;
            words: string;
            /** Format: date-time */
            found_at: string;
            confirmed_at: string | null;
            detector: string;
            reasons: string[];
        };
        SeriesEvent: {
            event: components["schemas"]["EventOutput"];
            effect: components["schemas"]["Effect"];
            change_id: number | null;
            words: string;
            n_before: number;
            n_after: number;
            shift_ratio: number | null;
            p_value: number | null;
        };
        SeriesOutput: {
            id: number;
            cluster_id: number;
            node_names: string[];
            target_names: string[];
            variant: string;
            workload: string;
            options: {
                [key: string]: unknown;
            };
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            superseded: string | null;
            point_count: number;
            last_value: number | null;
            last_at: string | null;
        };
        SeriesStanding: {
            series: components["schemas"]["SeriesOutput"];
            state: components["schemas"]["SeriesState"];
            since: string | null;
            shift_ratio: number | null;
            words: string;
        };
        /** @enum {string} */
        SeriesState: "slower" | "stale" | "noisy" | "faster" | "in_control" | "no_baseline";
        SessionState: {
            principal: components["schemas"]["CallerOutput"];
        };
        SessionsEnded: {
            count: number;
        };
        /** @enum {string} */
        Severity: "high" | "medium" | "low";
        SideNumbers: {
            n: number;
            median: number;
            values: number[];
            run_ids: number[];
            flags: string[];
            modes: components["schemas"]["TwoModes"] | null;
        };
        SideOfRow: {
            campaign_id: number;
            campaign_name: string;
            cluster_name: string;
            cell_id: number;
            ordinal: number;
            node_names: string[];
            target_names: string[];
            variant: string;
            is_alike: boolean;
        };
        SideVerdict: {
            verdict: components["schemas"]["Verdict"];
            words: string;
            median_ratio: number | null;
            ratio: number | null;
            low: number | null;
            high: number | null;
            p_value: number | null;
            is_discovery: boolean | null;
            basis: components["schemas"]["Basis"];
            basis_words: string;
            looks: number;
            runs_missing: number;
            reasons: string[];
        };
        SidesComparison: {
            by: string | null;
            dimensions: string[];
            sides: unknown[];
            against: number;
            rows: components["schemas"]["SidesRow"][];
            sides_left_out: unknown[];
            rows_left_out: number;
        };
        SidesDifference: {
            name: string;
            values: unknown[];
        };
        SidesMetric: {
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            labels: {
                [key: string]: string | number | boolean;
            };
            is_primary: boolean;
            target_name: string | null;
            numbers: (components["schemas"]["SideNumbers"] | null)[];
            verdicts: (components["schemas"]["SideVerdict"] | null)[];
        };
        SidesRow: {
            workload: string;
            options: {
                [key: string]: unknown;
            };
            cells: (components["schemas"]["SideOfRow"] | null)[];
            differences: components["schemas"]["SidesDifference"][];
            metrics: components["schemas"]["SidesMetric"][];
        };
        SignInLink: {
            url: string;
        };
        SignInWays: {
            provider_name: string | null;
            is_open_for_reading: boolean;
        };
        SignedOut: {
            provider_url: string | null;
        };
        Sizes: {
            file_size_bytes: number;
            record_size_bytes: number;
        };
        SlackInput: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "slack";
            url?: string | null;
        };
        Sparkline: {
            series_id: number;
            cell_ids: number[];
            medians: number[];
        };
        Sparklines: {
            items: components["schemas"]["Sparkline"][];
        };
        Stage: {
            ordinal: number;
            variant: string;
            /** @enum {string} */
            does: "measure" | "make" | "fill" | "mount" | "clean";
            pause: string | null;
            /** @enum {string} */
            state: "held" | "paused" | "open";
            paused_at: string | null;
            opened_at: string | null;
            confirmed_by: string | null;
            runs: number;
            ended: number;
            failed: number;
            cancelled: number;
            run_id: number | null;
            run_state: components["schemas"]["RunState"] | null;
        };
        Standing: {
            node_name: string;
            cluster: string;
            pending_until: string | null;
            fingerprint: string;
            /** Format: date-time */
            server_time: string;
            oldest_wire_version: number;
            newest_wire_version: number;
        };
        StandingCount: {
            state: components["schemas"]["SeriesState"];
            series: number;
        };
        /** @enum {string} */
        Start: "1MiB" | "63s";
        StepRecord: {
            name: string;
            phase: string;
            argv: string[];
            /** @default client */
            role: components["schemas"]["StepRole"];
            target_id: number | null;
            writer: number | null;
            /** Format: date-time */
            started_at: string;
            wall_seconds: number;
            user_seconds: number;
            system_seconds: number;
            max_rss_bytes: number;
            exit_status: number | null;
            signal: number | null;
            before_done?: string | null;
        };
        /** @enum {string} */
        StepRole: "client" | "sender" | "receiver" | "observer" | "maker" | "head" | "member";
        StripesOutput: {
            layout: string;
            disks: number;
            data_disks: number;
            chunk_bytes: number | null;
            width_bytes: number | null;
            minimum_io_bytes: number;
            optimal_io_bytes: number;
            block_bytes: number;
            start_multiple_bytes: number;
            pe_start_bytes: number;
            lvm_chunk_choices_bytes: number[] | null;
            mkfs: components["schemas"]["MkfsOutput"][];
            notes: string[];
        };
        StuckLoad: {
            order_id: number | null;
            process: string;
            pid: number;
            state: string;
            waits_in: string;
            processes: number;
            /** Format: date-time */
            since: string;
        };
        StuckLoadOutput: {
            process: string;
            /** Format: date-time */
            since: string;
            run_id: number | null;
            targets: string[];
        };
        StuckStatement: {
            node_id: number;
            node_name: string;
            runs: components["schemas"]["HeldRunOutput"][];
            afterwards: string;
            statement_sha256: string;
        };
        StuckWriterOutput: {
            node_id: number;
            node_name: string;
            run_id: number;
            process: string;
            /** Format: date-time */
            since: string;
        };
        Surface: {
            metrics: components["schemas"]["SurfaceMetric"][];
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            operations: string[];
            operation: string;
            file_sizes_bytes: number[];
            record_sizes_bytes: number[];
            a: components["schemas"]["SurfaceSide"];
            b: components["schemas"]["SurfaceSide"] | null;
            unlike: components["schemas"]["Unlike"][];
            differences: (components["schemas"]["SurfaceDifference"] | null)[][] | null;
            only_a: components["schemas"]["Sizes"][];
            only_b: components["schemas"]["Sizes"][];
        };
        SurfaceCell: {
            median: number;
            low: number;
            high: number;
            n: number;
            run_ids: number[];
            flags: string[];
        };
        SurfaceCliffOutput: {
            /** @enum {string} */
            axis: "file_size" | "record_size";
            last_bytes: number;
            first_bytes: number;
            at_bytes: number[];
            of: number;
            fall_ratio: number;
            low: number | null;
            high: number | null;
            suits: string[];
            words: string;
        };
        SurfaceDifference: {
            verdict: components["schemas"]["Verdict"];
            words: string;
            median_ratio: number | null;
            ratio: number | null;
            low: number | null;
            high: number | null;
            p_value: number | null;
            is_discovery: boolean | null;
            basis: components["schemas"]["Basis"];
            basis_words: string;
            looks: number;
            difference: number;
        };
        SurfaceMetric: {
            metric: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
        };
        SurfacePart: {
            source: string;
            workload: string;
            node_names: string[];
            target_names: string[];
            variant: string;
        };
        SurfaceSide: {
            source: string;
            workload: string;
            node_names: string[];
            target_names: string[];
            variant: string;
            campaign_id: number;
            campaign_name: string;
            cluster_id: number;
            run_id: number | null;
            options: {
                [key: string]: unknown;
            };
            started_at: string | null;
            run_count: number;
            is_total: boolean;
            parts: components["schemas"]["SurfacePart"][];
            caches: components["schemas"]["CacheSize"][];
            cells: (components["schemas"]["SurfaceCell"] | null)[][];
            unmeasured: components["schemas"]["Unmeasured"][];
            cliffs: components["schemas"]["SurfaceCliffOutput"][];
        };
        SurfaceSource: {
            source: string;
            workload: string;
            node_names: string[];
            target_names: string[];
            variant: string;
            campaign_id: number;
            campaign_name: string;
            cluster_id: number;
            /** Format: date-time */
            started_at: string;
            run_ids: number[];
        };
        Suspect: {
            centre: number;
            low: number;
            high: number;
            is_higher: boolean;
        };
        /** @enum {string} */
        Sync: "wait" | "assume_clean" | "zeroed";
        TargetFacts: {
            places: components["schemas"]["TargetPlace"][];
            backing: components["schemas"]["TargetPlace"][];
            suggested_backing: components["schemas"]["TargetRef"][];
        };
        TargetInput: {
            cluster_id: number;
            name: string;
            path: string;
            /** @enum {string} */
            scope: "node" | "shared";
            nodes: number[];
            elsewhere?: components["schemas"]["NodePath"][];
            reserve_bytes?: number | null;
        };
        TargetMountOutput: {
            node_id: number;
            node_name: string;
            path: string;
            fstype: string;
            source: string;
            identity: string | null;
            mount_options: string;
            total_bytes: number | null;
            free_bytes: number | null;
            /** Format: date-time */
            seen_at: string;
            problem: string | null;
        };
        TargetOutput: {
            id: number;
            cluster_id: number;
            name: string;
            path: string;
            /** @enum {string} */
            scope: "node" | "shared";
            reserve_bytes: number | null;
            confirms_suspects: boolean;
            retired_at: string | null;
            mounts: components["schemas"]["TargetMountOutput"][];
            backed_by: components["schemas"]["TargetRef"][];
            drain: components["schemas"]["DrainOutput"] | null;
            stuck: components["schemas"]["StuckWriterOutput"][];
        };
        TargetPatch: {
            name?: string | null;
            reserve_bytes?: number | null;
            confirms_suspects?: boolean | null;
            nodes?: number[] | null;
            elsewhere?: components["schemas"]["NodePath"][];
        };
        TargetPlace: {
            target: components["schemas"]["TargetRef"];
            node_id: number;
            node_name: string;
            path: string;
            mount: components["schemas"]["MountFacts"] | null;
        };
        TargetRef: {
            id: number;
            name: string;
        };
        TemplateInput: {
            name: string;
            plan: components["schemas"]["CampaignPlan"];
        };
        TemplateOutput: {
            id: number;
            cluster_id: number;
            cluster_name: string;
            name: string;
            owner: string | null;
            plan: components["schemas"]["CampaignPlan"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            changed_at: string;
        };
        TemplatePatch: {
            name?: string | null;
            plan?: components["schemas"]["CampaignPlan"] | null;
        };
        TestOutcome: {
            delivered: boolean;
            words: string;
        };
        Throughput: {
            drawn: components["schemas"]["ThroughputMeasure"] | null;
            measures: components["schemas"]["ThroughputMeasure"][];
            target_kinds: string[];
            clusters: components["schemas"]["ClusterThroughput"][];
            clusters_left_out: number;
            series_left_out: number;
        };
        ThroughputMeasure: {
            workload: string;
            metric: string;
            operation: string;
            title: string;
            unit: components["schemas"]["Unit"];
            /** @enum {string} */
            better: "higher" | "lower" | "neither";
            clusters: number;
        };
        /** @enum {string} */
        Tier: "one_run" | "few_runs" | "enough_runs";
        Timeline: {
            campaign_id: number;
            /** Format: date-time */
            at: string;
            orders: components["schemas"]["TimelineOrder"][];
            leases: components["schemas"]["TimelineLease"][];
            others: components["schemas"]["TimelineLease"][];
            waiting: components["schemas"]["TimelineQueue"][];
            left_out: number;
        };
        TimelineLease: {
            run_id: number;
            campaign_id: number;
            campaign_name: string;
            /** @enum {string} */
            kind: "node" | "target" | "cluster";
            name: string;
            mode: components["schemas"]["Mode"];
            /** Format: date-time */
            taken_at: string;
            released_at: string | null;
        };
        TimelineOrder: {
            order_id: number;
            run_id: number;
            repeat: number;
            cell_id: number;
            workload: string;
            attempt: number;
            node_name: string;
            target_names: string[];
            state: components["schemas"]["OrderState"];
            outcome: components["schemas"]["OrderEnd"] | null;
            /** Format: date-time */
            waited_since: string;
            /** Format: date-time */
            offered_at: string;
            claimed_at: string | null;
            started_at: string | null;
            uploading_at: string | null;
            ended_at: string | null;
            silent_since: string | null;
        };
        TimelineQueue: {
            node_name: string;
            runs: number;
            /** Format: date-time */
            since: string;
        };
        Token: {
            id: number;
            user_id: number;
            user_name: string;
            name: string;
            scopes: ("read" | "operate" | "admin")[];
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            last_used_address: string | null;
        };
        TokenCreated: {
            id: number;
            user_id: number;
            user_name: string;
            name: string;
            scopes: ("read" | "operate" | "admin")[];
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            last_used_address: string | null;
            token: string;
        };
        TokenInput: {
            name: string;
            scopes: ("read" | "operate" | "admin")[];
            expires_at?: string | null;
        };
        TouchedRunOutput: {
            run_id: number;
            campaign_id: number;
            campaign_name: string;
            workload: string;
            ends: boolean;
            words: string;
        };
        TwoModes: {
            low: number;
            low_runs: number;
            high: number;
            high_runs: number;
        };
        UnansweredCheck: {
            check: components["schemas"]["Check"];
            title: string;
            because: string;
            phase: string;
        };
        /** @enum {string} */
        Unit: "bytes_per_second" | "operations_per_second" | "seconds" | "bytes" | "count" | "ratio";
        Unlike: {
            name: string;
            a: unknown;
            b: unknown;
        };
        Unmeasured: {
            file_size_bytes: number;
            record_size_bytes: number;
            flag: string;
        };
        UserChange: {
            roles: components["schemas"]["RoleGrantOutput"][];
            disabled: boolean;
        };
        UserInput: {
            name: string;
            roles: components["schemas"]["RoleGrantOutput"][];
        };
        UserOutput: {
            id: number;
            name: string;
            has_password: boolean;
            /** Format: date-time */
            created_at: string;
            disabled_at: string | null;
            last_seen_at: string | null;
            session_count: number;
            token_count: number;
            schedule_count: number;
            roles: components["schemas"]["RoleGrantOutput"][];
            issuer: string | null;
            provider_roles: components["schemas"]["RoleGrantOutput"][];
        };
        ValidationError: {
            loc: (string | number)[];
            msg: string;
            type: string;
            input?: unknown;
            ctx?: Record<string, never>;
        };
        /** @enum {string} */
        Variation: "steady" | "flagged" | "noisy" | "unrankable";
        /** @enum {string} */
        Verdict: "unlike" | "no_ratio" | "one_run" | "few_runs" | "two_modes" | "not_judged" | "no_difference_shown" | "equal" | "below_practical" | "higher" | "lower";
        WantedJob: {
            run_id: number;
            fence: number;
            nodes: components["schemas"]["JobNode"][];
            time_limit_seconds: number;
        };
        WearOutput: {
            target_name: string;
            bytes_least: number;
            bytes_most: number | null;
        };
        Webhook: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "webhook";
            url: string;
            has_secret: boolean;
        };
        WebhookInput: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "webhook";
            url: string;
            secret?: string | null;
        };
        Window: {
            from: string;
            until: string;
            time_zone: string;
        };
        /** @enum {string} */
        Word: "continue" | "go" | "cancel" | "unknown";
        WorkloadAnnouncement: {
            name: string;
            revision: number;
            title: string;
            description: string;
            options_schema: {
                [key: string]: unknown;
            };
            option_defaults: {
                [key: string]: unknown;
            };
            metrics: components["schemas"]["MetricSpec"][];
            bytes_needed: components["schemas"]["Number"] | components["schemas"]["Option"] | components["schemas"]["Holds"] | components["schemas"]["Operation-Input"];
            bytes_moved: components["schemas"]["Number"] | components["schemas"]["Option"] | components["schemas"]["Holds"] | components["schemas"]["Operation-Input"];
            /**
             * @default {
             *       "kind": "number",
             *       "value": 0
             *     }
             */
            run_seconds: components["schemas"]["Number"] | components["schemas"]["Option"] | components["schemas"]["Holds"] | components["schemas"]["Operation-Input"];
            breaks_series: boolean;
            /** @default [] */
            step_roles: ("sender" | "receiver" | "maker")[];
            /**
             * @default {
             *       "kind": "number",
             *       "value": 1
             *     }
             */
            own_programs: components["schemas"]["Number"] | components["schemas"]["Option"] | components["schemas"]["Holds"] | components["schemas"]["Operation-Input"];
            tool: string;
            tool_version: string | null;
            available: boolean;
            unavailable_because: string | null;
        };
        WorkloadChoice: {
            workload: string;
            options?: {
                [key: string]: unknown;
            };
            sweep?: {
                [key: string]: unknown[];
            };
            nodes?: string[] | null;
            nodes_at_once?: boolean | number[] | null;
            observers?: string[] | null;
            targets?: string[] | null;
            targets_at_once?: boolean | null;
            variants?: string[] | null;
            roles?: components["schemas"]["Roles"][] | "each_pair" | null;
        };
        WorkloadNodes: {
            available: boolean;
            unavailable_because: string | null;
            tool_version: string | null;
            node_ids: number[];
        };
        WorkloadOutput: {
            id: number;
            cluster_id: number | null;
            name: string;
            revision: number;
            title: string;
            description: string;
            schema_sha256: string;
            options_schema: {
                [key: string]: unknown;
            };
            option_defaults: {
                [key: string]: unknown;
            };
            metrics: components["schemas"]["MetricSpec"][];
            step_roles: ("sender" | "receiver")[];
            own_programs: components["schemas"]["Number"] | components["schemas"]["Option"] | components["schemas"]["Holds"] | components["schemas"]["Operation-Output"];
            tool: string;
            nodes: components["schemas"]["WorkloadNodes"][];
        };
        WorkloadPower: {
            workload: string;
            scatter_source: ("configurations" | "workload") | null;
            scatter_runs: number;
            rows: components["schemas"]["PowerRow"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    enroll_agent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnrollRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrollReply"];
                };
            };
        };
    };
    get_standing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Standing"];
                };
            };
        };
    };
    greet_agent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HelloRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HelloReply"];
                };
            };
        };
    };
    rotate_credentials: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewCredentials"];
                };
            };
        };
    };
    confirm_credentials: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    claim_order: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                order_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
        };
    };
    take_heartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeartbeatRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatReply"];
                };
            };
        };
    };
    take_batch_report: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchReport"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchReply"];
                };
            };
        };
    };
    put_artefact: {
        parameters: {
            query: {
                sha256: string;
            };
            header: {
                "X-Iotide-Fence": number;
            };
            path: {
                order_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    finish_order: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                order_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FinishRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FinishReply"];
                };
            };
        };
    };
    get_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    get_alive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
        };
    };
    get_ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
        };
    };
    get_sign_in_ways: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInWays"];
                };
            };
        };
    };
    sign_in_by_link: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
        };
    };
    get_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
        };
    };
    sign_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialsInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
        };
    };
    sign_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedOut"];
                };
            };
        };
    };
    set_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordInput"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserSessions"];
                };
            };
        };
    };
    end_other_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionsEnded"];
                };
            };
        };
    };
    end_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    end_sessions_of_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionsEnded"];
                };
            };
        };
    };
    reset_password: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInLink"];
                };
            };
        };
    };
    go_to_provider: {
        parameters: {
            query?: {
                next?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    come_back_from_provider: {
        parameters: {
            query?: {
                state?: string;
                code?: string;
                error?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_tokens: {
        parameters: {
            query?: {
                whose?: "mine" | "all";
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Token_"];
                };
            };
        };
    };
    create_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCreated"];
                };
            };
        };
    };
    confirm_login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    revoke_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_users: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_UserOutput_"];
                };
            };
        };
    };
    create_user: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserOutput"];
                };
            };
        };
    };
    change_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserOutput"];
                };
            };
        };
    };
    make_sign_in_link: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInLink"];
                };
            };
        };
    };
    list_audit: {
        parameters: {
            query?: {
                actor?: string | null;
                action?: string | null;
                subject_kind?: string | null;
                subject_id?: number | null;
                cluster_id?: number | null;
                address?: string | null;
                from?: string | null;
                to?: string | null;
                text?: string | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AuditEntryOutput_"];
                };
            };
        };
    };
    export_audit: {
        parameters: {
            query?: {
                format?: components["schemas"]["AuditFile"];
                actor?: string | null;
                action?: string | null;
                subject_kind?: string | null;
                subject_id?: number | null;
                cluster_id?: number | null;
                address?: string | null;
                from?: string | null;
                to?: string | null;
                text?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
        };
    };
    list_clusters: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ClusterOutput_"];
                };
            };
        };
    };
    create_cluster: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterOutput"];
                };
            };
        };
    };
    get_cluster: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterOutput"];
                };
            };
        };
    };
    change_cluster: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClusterPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterOutput"];
                };
            };
        };
    };
    list_maintenance_windows: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_BlackoutOutput_"];
                };
            };
        };
    };
    create_maintenance_window: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlackoutInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlackoutOutput"];
                };
            };
        };
    };
    remove_maintenance_window: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                blackout_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_join_tokens: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_JoinTokenOutput_"];
                };
            };
        };
    };
    create_join_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinTokenInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinTokenCreated"];
                };
            };
        };
    };
    revoke_join_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    create_reenrolment_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReenrolmentInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinTokenCreated"];
                };
            };
        };
    };
    list_pending_nodes: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_PendingNodeOutput_"];
                };
            };
        };
    };
    approve_pending_nodes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PendingChoice"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    refuse_pending_nodes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PendingChoice"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_nodes: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                state?: components["schemas"]["NodeState"] | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_NodeOutput_"];
                };
            };
        };
    };
    list_cluster_nodes: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_NodeSummaryOutput_"];
                };
            };
        };
    };
    get_node: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeOutput"];
                };
            };
        };
    };
    retire_node: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    change_node: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeOutput"];
                };
            };
        };
    };
    rotate_node: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeOutput"];
                };
            };
        };
    };
    list_drains: {
        parameters: {
            query?: {
                cluster_id?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NamedDrain"][];
                };
            };
        };
    };
    drain_everything: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DrainInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DrainOutput"];
                };
            };
        };
    };
    resume_everything: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    drain_cluster: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DrainInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DrainOutput"];
                };
            };
        };
    };
    resume_cluster: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    drain_node: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DrainInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DrainOutput"];
                };
            };
        };
    };
    resume_node: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_targets: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                retired?: boolean;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TargetOutput_"];
                };
            };
        };
    };
    create_target: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TargetInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOutput"];
                };
            };
        };
    };
    list_candidates: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Candidate"][];
                };
            };
        };
    };
    get_target_facts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetFacts"];
                };
            };
        };
    };
    set_backing: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackingInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOutput"];
                };
            };
        };
    };
    get_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOutput"];
                };
            };
        };
    };
    retire_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    change_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TargetPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetOutput"];
                };
            };
        };
    };
    drain_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DrainInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DrainOutput"];
                };
            };
        };
    };
    resume_target: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_scratch_sets: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                node_id?: number | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ScratchSetOutput_"];
                };
            };
        };
    };
    enable_scratch_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                set_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnableInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScratchSetOutput"];
                };
            };
        };
    };
    disable_scratch_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                set_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScratchSetOutput"];
                };
            };
        };
    };
    show_stripes: {
        parameters: {
            query: {
                layout: string;
                filesystem?: components["schemas"]["Filesystem"][] | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StripesOutput"];
                };
            };
        };
    };
    list_workloads: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                with_former?: boolean;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_WorkloadOutput_"];
                };
            };
        };
    };
    list_campaigns: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                cluster_id?: number | null;
                state?: components["schemas"]["CampaignState"] | null;
                owner?: string | null;
                schedule_id?: number | null;
                text?: string | null;
                sort?: components["schemas"]["CampaignSort"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ListedCampaign_"];
                };
            };
        };
    };
    submit_campaign: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CampaignPlan"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignOutput"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignOutput"];
                };
            };
        };
    };
    list_campaign_groups: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                cluster_id?: number | null;
                state?: components["schemas"]["CampaignState"] | null;
                owner?: string | null;
                schedule_id?: number | null;
                text?: string | null;
                sort?: components["schemas"]["CampaignSort"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_CampaignGroup_"];
                };
            };
        };
    };
    get_campaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignOutput"];
                };
            };
        };
    };
    change_campaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CampaignPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignOutput"];
                };
            };
        };
    };
    get_campaign_timeline: {
        parameters: {
            query?: {
                from?: string | null;
                to?: string | null;
                limit?: number;
            };
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Timeline"];
                };
            };
        };
    };
    add_campaign_repeats: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string | null;
            };
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RepeatsInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignOutput"];
                };
            };
        };
    };
    get_campaign_pause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PauseOutput"];
                };
            };
        };
    };
    look_at_campaign_pause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PauseOutput"];
                };
            };
        };
    };
    confirm_campaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Confirmation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignOutput"];
                };
            };
        };
    };
    cancel_campaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignOutput"];
                };
            };
        };
    };
    preview_campaign: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CampaignPlan"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
        };
    };
    list_campaign_cells: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_CellOutput_"];
                };
            };
        };
    };
    get_campaign_conduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conduct"];
                };
            };
        };
    };
    list_campaign_headlines: {
        parameters: {
            query: {
                campaign_id: number[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignHeadlines"];
                };
            };
        };
    };
    list_campaign_measures: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignMeasures"];
                };
            };
        };
    };
    list_campaign_measurements: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                metric?: string | null;
                counter?: string | null;
                workload?: string | null;
            };
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_MeasuredCell_"];
                };
            };
        };
    };
    get_campaign_samples: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
        };
    };
    list_schedules: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ListedSchedule_"];
                };
            };
        };
    };
    create_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchedulePlan"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOutput"];
                };
            };
        };
    };
    preview_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Calendar"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CalendarPreview"];
                };
            };
        };
    };
    get_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOutput"];
                };
            };
        };
    };
    change_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchedulePlan"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOutput"];
                };
            };
        };
    };
    remove_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_firings: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_FiringOutput_"];
                };
            };
        };
    };
    pause_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOutput"];
                };
            };
        };
    };
    resume_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOutput"];
                };
            };
        };
    };
    run_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FiringOutput"];
                };
            };
        };
    };
    duplicate_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleOutput"];
                };
            };
        };
    };
    list_templates: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ListedTemplate_"];
                };
            };
        };
    };
    create_template: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateOutput"];
                };
            };
        };
    };
    get_template: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                template_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateOutput"];
                };
            };
        };
    };
    remove_template: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                template_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    change_template: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                template_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplatePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateOutput"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                campaign_id?: number | null;
                cluster_id?: number | null;
                state?: components["schemas"]["RunState"] | null;
                node_id?: number | null;
                target_id?: number | null;
                workload?: string | null;
                series_id?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RunOutput_"];
                };
            };
        };
    };
    cancel_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOutput"];
                };
            };
        };
    };
    retry_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOutput"];
                };
            };
        };
    };
    list_run_events: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                run_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RunEventOutput_"];
                };
            };
        };
    };
    get_queue: {
        parameters: {
            query?: {
                limit?: number;
                campaign_id?: number | null;
            };
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queue"];
                };
            };
        };
    };
    get_death_statement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeathStatement"];
                };
            };
        };
    };
    declare_node_dead: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeathConfirmation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeOutput"];
                };
            };
        };
    };
    get_stuck_statement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StuckStatement"];
                };
            };
        };
    };
    free_stuck_node: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeathConfirmation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeOutput"];
                };
            };
        };
    };
    get_revocation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevocationOutput"];
                };
            };
        };
    };
    revoke_node: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeOutput"];
                };
            };
        };
    };
    list_series: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                cluster_id?: number | null;
                node_id?: number | null;
                target_id?: number | null;
                workload?: string | null;
                metric?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SeriesOutput_"];
                };
            };
        };
    };
    get_series: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                series_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesOutput"];
                };
            };
        };
    };
    list_samples: {
        parameters: {
            query?: {
                run_id?: number | null;
                series_id?: number | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SampleOutput_"];
                };
            };
        };
    };
    get_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDetail"];
                };
            };
        };
    };
    list_run_curves: {
        parameters: {
            query?: {
                max_points?: number;
                counter?: string[] | null;
            };
            header?: never;
            path: {
                run_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Curve_"];
                };
            };
        };
    };
    list_run_counters: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_str_"];
                };
            };
        };
    };
    read_run_again: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunReading"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDetail"];
                };
            };
        };
    };
    get_reading: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reading_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadingDetail"];
                };
            };
        };
    };
    list_run_artefacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ArtefactOutput_"];
                };
            };
        };
    };
    get_artefact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                artefact_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    list_surface_sources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SurfaceSource_"];
                };
            };
        };
    };
    get_surface: {
        parameters: {
            query: {
                a: string;
                b?: string | null;
                operation?: string | null;
                metric?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Surface"];
                };
            };
        };
    };
    get_campaign_report: {
        parameters: {
            query?: {
                zone?: string;
                rates?: "decimal" | "binary" | "bits";
            };
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
        };
    };
    get_comparison_report: {
        parameters: {
            query?: {
                a?: number | null;
                b?: number | null;
                a_cell?: number | null;
                b_cell?: number | null;
                metric?: string | null;
                campaign?: number[] | null;
                cell?: number[] | null;
                by?: string | null;
                against?: number;
                zone?: string;
                rates?: "decimal" | "binary" | "bits";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
        };
    };
    get_series_points: {
        parameters: {
            query?: {
                limit?: number;
                points?: number | null;
                from?: string | null;
                to?: string | null;
            };
            header?: never;
            path: {
                series_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Points"];
                };
            };
        };
    };
    list_points: {
        parameters: {
            query: {
                series_id: number[];
                format?: components["schemas"]["FileFormat"];
                limit?: number;
                points?: number | null;
                from?: string | null;
                to?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Points"][];
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
        };
    };
    get_series_analysis: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                series_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesAnalysis"];
                };
            };
        };
    };
    list_changes: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                cluster_id?: number | null;
                workload?: string | null;
                direction?: ("better" | "worse") | null;
                with_unconfirmed?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_NamedChange_"];
                };
            };
        };
    };
    list_events: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                cluster_id?: number | null;
                node_id?: number | null;
                target_id?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_EventOutput_"];
                };
            };
        };
    };
    create_event: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventOutput"];
                };
            };
        };
    };
    remove_event: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_comparison: {
        parameters: {
            query: {
                a: number;
                b: number;
                a_cell?: number | null;
                b_cell?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignComparison"];
                };
            };
        };
    };
    get_sides: {
        parameters: {
            query?: {
                campaign?: number[] | null;
                cell?: number[] | null;
                by?: string | null;
                against?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SidesComparison"];
                };
            };
        };
    };
    get_cluster_peers: {
        parameters: {
            query?: {
                workload?: string | null;
                metric?: string | null;
                kind?: components["schemas"]["PeerKind"] | null;
                only_odd?: boolean;
                limit?: number;
            };
            header?: never;
            path: {
                cluster_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Peers"];
                };
            };
        };
    };
    get_target_advice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                target_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdviceReport"];
                };
            };
        };
    };
    get_campaign_advice: {
        parameters: {
            query?: {
                claimed_ratio?: number | null;
            };
            header?: never;
            path: {
                campaign_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdviceReport"];
                };
            };
        };
    };
    list_alerts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                state?: components["schemas"]["AlertState"][] | null;
                kind?: ("change" | "stale") | null;
                cluster_id?: number | null;
                target_id?: number | null;
                series_id?: number | null;
                group_id?: number | null;
                rule_id?: number | null;
                owner?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AlertOutput_"];
                };
            };
        };
    };
    get_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                alert_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetail"];
                };
            };
        };
    };
    act_on_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                alert_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertActionInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetail"];
                };
            };
        };
    };
    mute_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                alert_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MuteInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetail"];
                };
            };
        };
    };
    list_alert_rules: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AlertRuleOutput_"];
                };
            };
        };
    };
    create_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRuleInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleOutput"];
                };
            };
        };
    };
    get_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleOutput"];
                };
            };
        };
    };
    change_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRuleInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleOutput"];
                };
            };
        };
    };
    remove_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedRule"];
                };
            };
        };
    };
    list_incidents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
                state?: ("open" | "acknowledged" | "expected" | "ignored" | "ended")[] | null;
                kind?: ("worse" | "better" | "neither" | "stale") | null;
                cluster_id?: number | null;
                series_id?: number[] | null;
                target_id?: number | null;
                owner?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_IncidentOutput_"];
                };
            };
        };
    };
    get_incident: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                incident_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentDetail"];
                };
            };
        };
    };
    act_on_incident: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                incident_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentActionInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentDetail"];
                };
            };
        };
    };
    explore_runs: {
        parameters: {
            query?: {
                id?: number[] | null;
                cluster_id?: number | null;
                campaign_id?: number | null;
                node_id?: number | null;
                target_id?: number | null;
                workload?: string | null;
                state?: components["schemas"]["RunState"] | null;
                validity?: ("valid" | "rejected") | null;
                flag?: string | null;
                from?: string | null;
                to?: string | null;
                text?: string | null;
                sort?: components["schemas"]["RunSort"];
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ExplorerRun_"];
                };
            };
        };
    };
    count_explored_runs: {
        parameters: {
            query?: {
                id?: number[] | null;
                cluster_id?: number | null;
                campaign_id?: number | null;
                node_id?: number | null;
                target_id?: number | null;
                workload?: string | null;
                state?: components["schemas"]["RunState"] | null;
                validity?: ("valid" | "rejected") | null;
                flag?: string | null;
                from?: string | null;
                to?: string | null;
                text?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunCount"];
                };
            };
        };
    };
    list_sparklines: {
        parameters: {
            query: {
                series_id: number[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sparklines"];
                };
            };
        };
    };
    search_names: {
        parameters: {
            query: {
                text: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResult"];
                };
            };
        };
    };
    list_saved_views: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedViews"];
                };
            };
        };
    };
    keep_saved_view: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SavedViewInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedViewOutput"];
                };
            };
        };
    };
    change_saved_view: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                view_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SavedViewInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedViewOutput"];
                };
            };
        };
    };
    remove_saved_view: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                view_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_board: {
        parameters: {
            query?: {
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Board"];
                };
            };
        };
    };
    get_throughput: {
        parameters: {
            query?: {
                workload?: string | null;
                metric?: string | null;
                operation?: string | null;
                kind?: string | null;
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Throughput"];
                };
            };
        };
    };
    get_metric_board: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                workload?: string | null;
                metric?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricBoard"];
                };
            };
        };
    };
    list_channels: {
        parameters: {
            query?: {
                cluster_id?: number | null;
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ChannelOutput_"];
                };
            };
        };
    };
    create_channel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOutput"];
                };
            };
        };
    };
    get_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOutput"];
                };
            };
        };
    };
    change_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOutput"];
                };
            };
        };
    };
    remove_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_deliveries: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string | null;
            };
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_DeliveryOutput_"];
                };
            };
        };
    };
    test_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestOutcome"];
                };
            };
        };
    };
    list_published_sources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedSources"];
                };
            };
        };
    };
    stream_events: {
        parameters: {
            query?: {
                topics?: string;
            };
            header?: {
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
        };
    };
}
