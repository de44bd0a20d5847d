/* methods.c: daedalus methods. */
#include "cli/verbs.h"

static int run(cli *c, const cli_arguments *a)
{
    dae_json j;
    (void)a;
    if (!c->json) {
        for (int i = 0; i < dae_method_count(); i++)
            dae_sink_print(c->out, "%s\n", dae_method_name(i));
        return 0;
    }
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_array(&j, "methods");
    for (int i = 0; i < dae_method_count(); i++) {
        dae_json_object(&j, NULL);
        dae_json_string(&j, "name", dae_method_name(i));
        dae_json_end(&j);
    }
    dae_json_end(&j);
    dae_json_end(&j);
    return 0;
}

const cli_verb cli_verb_methods = {
    .name = "methods",
    .arguments = "",
    .summary = "list the integration methods",
    .run = run,
};
