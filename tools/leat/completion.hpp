#pragma once
// Scripts by which shells complete the command's words.

#include <string_view>

namespace tool {

/// The script for "bash", "zsh" or "fish"; empty for another shell.
inline std::string_view completion_for(std::string_view shell) {
  if (shell == "bash")
    return R"script(_leat() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "show check convert run serve cluster keys completion --help --version" -- "$word"))
    return
  fi
  case $command:$word in
    show:-*) COMPREPLY=($(compgen -W "--nodes --shapes --dot --help" -- "$word")) ;;
    check:-*) COMPREPLY=($(compgen -W "--allow-unknown --help" -- "$word")) ;;
    convert:-*) COMPREPLY=($(compgen -W "--prefix --fetch --freeze --signature --opset --help" -- "$word")) ;;
    run:-*) COMPREPLY=($(compgen -W "--feed --fetch --times --signature --variables --init --save --format --out --progress --trace \
      --timeout --help" -- "$word")) ;;
    serve:-*) COMPREPLY=($(compgen -W "--ps_hosts --worker_hosts --job_name --task_index --cluster --from --jobs --first_port --keys \
      --server_keys --allowed --insecure_network --run --help" -- "$word")) ;;
    cluster:-*) COMPREPLY=($(compgen -W "--ps_hosts --worker_hosts --cluster --from --jobs --first_port --keys --server_keys \
      --insecure_network --timeout --wait --help" -- "$word")) ;;
    keys:-*) COMPREPLY=($(compgen -W "--show --help" -- "$word")) ;;
    completion:*) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _leat leat
)script";
  if (shell == "zsh")
    return R"script(#compdef leat
_leat() {
  local -a commands
  commands=('show:what a file holds' 'check:what is wrong with files' 'convert:write a graph in another form'
    'run:run a graph or a saved model' 'serve:serve a task of a cluster' 'cluster:who of a cluster is there'
    'keys:make keys for a cluster' 'completion:a script for a shell')
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
    show) _arguments '--nodes[every node]' '--shapes[every node with its shapes]' '--dot[as a drawing]' \
      '*:file:_files -g "*.(pb|meta|json)"' ;;
    check) _arguments '--allow-unknown[operators that leat does not know are no finding]' '*:file:_files -g "*.(pb|meta|json)"' ;;
    convert) _arguments '--prefix[a scope for all names]:scope:' '*--fetch[keep what this needs]:name:' \
      '*--freeze[make variables constants]:value:_files' \
      '--signature[whose inputs and outputs an ONNX model has]:name:' '--opset[the version of ONNX operators]:number:' \
      '*:file:_files -g "*.(pb|meta|json|dot|onnx)"' ;;
    run) _arguments '*--feed[a value]:value:_files' '*--fetch[a run]:names:' '*--times[how often]:number:' \
      '--signature[whose names count]:name:' '*--variables[values of variables]:value:_files' '--init[first values]' \
      '--save[the model afterwards]:folder:_files' '--format[of results]:format:(text json npy)' '--out[where results go]:file:_files' \
      '--progress[tell how far it is]' '--trace[what ran when]:file:_files' '--timeout[seconds for a run]:number:' '*:file:_files' ;;
    serve) _arguments '--ps_hosts[addresses of the job ps]:addresses:' '--worker_hosts[addresses of the job worker]:addresses:' \
      '--job_name[of this process]:name:' '--task_index[of this process]:number:' '--cluster[as JSON]:file:_files' \
      '--from[where else the cluster stands]:way:(tf_config slurm)' '--jobs[for Slurm]:jobs:' '--first_port[for Slurm]:number:' \
      '--keys[the pair of this process]:file:_files' '--server_keys[public key of the servers]:file:_files' \
      '*--allowed[public keys of those who may connect]:file:_files' '--insecure_network[other hosts without keys]' \
      '--run[a name of the training]:name:' ;;
    cluster) _arguments '--ps_hosts[addresses of the job ps]:addresses:' '--worker_hosts[addresses of the job worker]:addresses:' \
      '--cluster[as JSON]:file:_files' '--from[where else the cluster stands]:way:(tf_config slurm)' '--jobs[for Slurm]:jobs:' \
      '--first_port[for Slurm]:number:' '--keys[the pair of this process]:file:_files' \
      '--server_keys[public key of the servers]:file:_files' '--insecure_network[other hosts without keys]' \
      '--timeout[seconds to answer in]:number:' '--wait[until all are up]' '*:target:' ;;
    keys) _arguments '--show[print the public keys]' '*:file:_files' ;;
    completion) _values shell bash zsh fish ;;
  esac
}
compdef _leat leat
)script";
  if (shell == "fish")
    return R"script(complete -c leat -n __fish_use_subcommand -f -a show -d 'what a file holds'
complete -c leat -n __fish_use_subcommand -f -a check -d 'what is wrong with files'
complete -c leat -n __fish_use_subcommand -f -a convert -d 'write a graph in another form'
complete -c leat -n __fish_use_subcommand -f -a run -d 'run a graph or a saved model'
complete -c leat -n '__fish_seen_subcommand_from run' -l feed -r -d 'a value'
complete -c leat -n '__fish_seen_subcommand_from run' -l fetch -x -d 'a run'
complete -c leat -n '__fish_seen_subcommand_from run' -l times -x -d 'how often'
complete -c leat -n '__fish_seen_subcommand_from run' -l signature -x -d 'whose names count'
complete -c leat -n '__fish_seen_subcommand_from run' -l variables -r -d 'values of variables'
complete -c leat -n '__fish_seen_subcommand_from run' -l init -d 'first values'
complete -c leat -n '__fish_seen_subcommand_from run' -l save -r -d 'the model afterwards'
complete -c leat -n '__fish_seen_subcommand_from run' -l format -x -a 'text json npy' -d 'of results'
complete -c leat -n '__fish_seen_subcommand_from run' -l out -r -d 'where results go'
complete -c leat -n '__fish_seen_subcommand_from run' -l progress -d 'tell how far it is'
complete -c leat -n '__fish_seen_subcommand_from run' -l trace -r -d 'what ran when'
complete -c leat -n '__fish_seen_subcommand_from run' -l timeout -x -d 'seconds for a run'
complete -c leat -n __fish_use_subcommand -f -a serve -d 'serve a task of a cluster'
complete -c leat -n __fish_use_subcommand -f -a cluster -d 'who of a cluster is there'
complete -c leat -n __fish_use_subcommand -f -a keys -d 'make keys for a cluster'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l ps_hosts -x -d 'addresses of the job ps'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l worker_hosts -x -d 'addresses of the job worker'
complete -c leat -n '__fish_seen_subcommand_from serve' -l job_name -x -d 'of this process'
complete -c leat -n '__fish_seen_subcommand_from serve' -l task_index -x -d 'of this process'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l cluster -r -d 'as JSON'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l from -x -a 'tf_config slurm' -d 'where else the cluster stands'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l jobs -x -d 'for Slurm'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l first_port -x -d 'for Slurm'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l keys -r -d 'the pair of this process'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l server_keys -r -d 'public key of the servers'
complete -c leat -n '__fish_seen_subcommand_from serve' -l allowed -r -d 'public keys of those who may connect'
complete -c leat -n '__fish_seen_subcommand_from serve cluster' -l insecure_network -d 'other hosts without keys'
complete -c leat -n '__fish_seen_subcommand_from serve' -l run -x -d 'a name of the training'
complete -c leat -n '__fish_seen_subcommand_from cluster' -l timeout -x -d 'seconds to answer in'
complete -c leat -n '__fish_seen_subcommand_from cluster' -l wait -d 'until all are up'
complete -c leat -n '__fish_seen_subcommand_from keys' -l show -d 'print the public keys'
complete -c leat -n __fish_use_subcommand -f -a completion -d 'a script for a shell'
complete -c leat -n '__fish_seen_subcommand_from show' -l nodes -d 'every node'
complete -c leat -n '__fish_seen_subcommand_from show' -l shapes -d 'every node with its shapes'
complete -c leat -n '__fish_seen_subcommand_from show' -l dot -d 'as a drawing'
complete -c leat -n '__fish_seen_subcommand_from check' -l allow-unknown -d 'operators that leat does not know are no finding'
complete -c leat -n '__fish_seen_subcommand_from convert' -l prefix -x -d 'a scope for all names'
complete -c leat -n '__fish_seen_subcommand_from convert' -l fetch -x -d 'keep what this needs'
complete -c leat -n '__fish_seen_subcommand_from convert' -l freeze -r -d 'make variables constants'
complete -c leat -n '__fish_seen_subcommand_from convert' -l signature -x -d 'whose inputs and outputs an ONNX model has'
complete -c leat -n '__fish_seen_subcommand_from convert' -l opset -x -d 'the version of ONNX operators'
complete -c leat -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
)script";
  return {};
}

}  // namespace tool
